/* Every op of exact work on a card, one kernel each: with the bits of kernels/work, which docs/spec/work.md fixes. */
#include "work/draws.h"
#include "work/elements.h"
#include "work/moves.h"
#include "work/product.h"
#include "work/quantise.h"
#include "work/rows.h"
#include "work/trees.h"
