/* All that is compiled for one instruction set, SET, whose vectors hold WIDTH numbers; kernel.c includes this once for each. */
#include "force.h"
#include "lanes.h"
#include "newton.h"

#undef FN
#undef vec
#undef bits
#undef SET
#undef WIDTH
#undef FMA
#undef ROOT
#undef LEAST
#undef CHOOSE
#undef ALL
#undef TOGETHER
#undef BY_COLUMNS
