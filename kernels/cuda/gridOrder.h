/* Which tile of the product a block makes: columns of 16 tiles, so that blocks running together share operands in L2. */
#ifndef TS_CUDA_GRID_ORDER_H
#define TS_CUDA_GRID_ORDER_H
#include "prelude.h"

typedef struct {
  ts_u32 row, column;
} ts_place;

static TS_INLINE ts_place ts_grid_place(ts_u32 block, ts_u32 rows, ts_u32 columns) {
  const ts_u32 height = 16u, group = block / (height * columns), first = group * height;
  const ts_u32 tall = rows - first < height ? rows - first : height, inside = block - first * columns;
  ts_place place;
  place.row = first + inside % tall;
  place.column = inside / tall;
  return place;
}

#endif
