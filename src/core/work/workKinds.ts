import { inference } from './kinds/inference/inference.ts'
import { matmul } from './kinds/matmul/matmul.ts'
import { rendering } from './kinds/rendering/rendering.ts'
import { simulation } from './kinds/simulation/simulation.ts'
import { training } from './kinds/training/training.ts'
import type { Kinds } from './work.ts'

/** Every kind of work. Another one is a folder, and a line here. */
export const WORK_KINDS: Kinds = { matmul, training, inference, simulation, rendering }
