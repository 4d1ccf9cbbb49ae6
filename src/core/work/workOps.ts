import { elements } from './ops/elements.ts'
import { flowOps } from './ops/flow.ts'
import { fresh } from './ops/fresh.ts'
import { moves } from './ops/moves.ts'
import { optimisers } from './ops/optimise.ts'
import { pictureOps } from './ops/picture.ts'
import { product } from './ops/product.ts'
import { quantisation } from './ops/quantise.ts'
import { rowOps } from './ops/rows.ts'
import type { WorkOp } from './ops/shapes.ts'
import { tables } from './ops/tables.ts'

/** Every op by name. Another one is a line here, a function in kernels/work, and a clause of W2. */
export const EXACT_OPS: Readonly<Record<string, WorkOp>> = {
  product,
  ...quantisation,
  ...elements,
  ...rowOps,
  ...optimisers,
  ...moves,
  ...tables,
  ...fresh,
  ...flowOps,
  ...pictureOps,
}
