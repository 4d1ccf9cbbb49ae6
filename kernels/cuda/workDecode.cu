/* Inference of exact work: runs of its steps as one kernel each, where nobody reads what lies between. */
#include "work/phases.h"
#include "work/prefill.h"
