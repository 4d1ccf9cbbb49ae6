/* W8 on a card: what a sumcheck asks of whole matrices. */
#include "work/field.h"
