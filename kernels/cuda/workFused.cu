/* Runs of steps of exact work as one kernel each, where nobody reads what lies between: the bits are those of the steps. */
#include "work/attention.h"
#include "work/fusedColumns.h"
#include "work/fusedRows.h"
