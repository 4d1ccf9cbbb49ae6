/* The phases of workDecode.cu for sm_90 and newer: weights come in bulk. */
#define WK_BULK 1
#include "work/phases.h"
