import type { ProductTask } from '../../../../ports/tensorDevice.ts'
import type { CublasLt, Matmul } from '../cublasLt.ts'
import { fault } from '../faults.ts'
import type { CudaApi, Handle } from '../loadLibcuda.ts'
import { type CudaTensor, cudaTensor } from './cudaTensor.ts'
import type { WorkloadKernels } from './workloadKernels.ts'

const WORKSPACE_BYTES = 64 * 2 ** 20
const ENTRY_BYTES = 2

interface Tools {
  readonly api: CudaApi
  readonly library: CublasLt
  readonly kernels: WorkloadKernels
  readonly stream: Handle
}

/** Which operand, how many rows of k, and whether it lies the other way. */
interface Operand {
  readonly tensor: CudaTensor
  readonly rows: number
  readonly k: number
  readonly batch: number
  readonly turned: boolean
}

/** Products through the library: operands rounded to bf16 and laid k-contiguous, sums in f32. */
export class Bf16Products {
  readonly #tools: Tools
  readonly #plans = new Map<string, Matmul>()
  readonly #scratch = new Map<'a' | 'b', { pointer: Handle; bytes: number }>()
  readonly #workspace: Handle

  constructor(tools: Tools) {
    this.#tools = tools
    this.#workspace = tools.api.allocate(WORKSPACE_BYTES)
  }

  run({ c, a, b, m, n, k, batch = 1, aTransposed = false, bTransposed = false }: ProductTask): void {
    const rounded = {
      a: this.#rounded('a', { tensor: cudaTensor(a), rows: m, k, batch, turned: aTransposed }),
      b: this.#rounded('b', { tensor: cudaTensor(b), rows: n, k, batch, turned: bTransposed }),
    }
    const to = cudaTensor(c)
    to.memory.version++
    const key = [m, n, k, batch, rounded.a, rounded.b, to.pointer].join()
    let plan = this.#plans.get(key)
    if (!plan) {
      plan = this.#plan({ ...rounded, c: to.pointer, m, n, k, batch })
      this.#plans.set(key, plan)
    }
    plan.launch(0, this.#tools.stream)
  }

  close(): void {
    for (const plan of this.#plans.values()) plan.close()
    for (const { pointer } of this.#scratch.values()) this.#tools.api.free(pointer)
    this.#tools.api.free(this.#workspace)
  }

  #plan(task: { a: Handle; b: Handle; c: Handle; m: number; n: number; k: number; batch: number }): Matmul {
    const workspace = { workspace: this.#workspace, workspaceBytes: WORKSPACE_BYTES }
    const plan = this.#tools.library.matmul({ precision: 'bf16', ...task, ...workspace })
    if (plan.choices > 0) return plan
    plan.close()
    throw fault('NO_PRODUCT', { m: task.m, n: task.n, k: task.k, batch: task.batch })
  }

  /** Views keep their copy until they change; everything else is rounded into scratch, which the next product reuses. */
  #rounded(role: 'a' | 'b', operand: Operand): Handle {
    const { tensor, rows, k, batch, turned } = operand
    const bytes = ENTRY_BYTES * rows * k * batch
    if (!tensor.isView) return this.#round(operand, this.#take(role, bytes))
    const held = turned ? tensor.turned : tensor.plain
    if (held?.version === tensor.memory.version) return held.pointer
    const copy = held ?? { pointer: this.#tools.api.allocate(bytes), version: -1 }
    if (!held) tensor.memory.copies.push(copy.pointer)
    copy.version = tensor.memory.version
    if (turned) tensor.turned = copy
    else tensor.plain = copy
    return this.#round(operand, copy.pointer)
  }

  #round({ tensor, rows, k, batch, turned }: Operand, to: Handle): Handle {
    const { kernels } = this.#tools
    const count = rows * k * batch
    const tiles = Math.ceil(rows / 32) * Math.ceil(k / 32)
    if (turned) kernels.overBlocks('ws_to_bf16_turned', tiles, [to, tensor.pointer, rows, k], batch)
    else kernels.overElements('ws_to_bf16', count, [to, tensor.pointer, BigInt(count)])
    return to
  }

  #take(role: 'a' | 'b', bytes: number): Handle {
    const held = this.#scratch.get(role)
    if (held && held.bytes >= bytes) return held.pointer
    if (held) this.#tools.api.free(held.pointer)
    const pointer = this.#tools.api.allocate(bytes)
    this.#scratch.set(role, { pointer, bytes })
    return pointer
  }
}
