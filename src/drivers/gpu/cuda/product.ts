import type { Precision } from '../../../core/params/precision.ts'
import type { CardTools } from './cardTools.ts'
import type { Handle } from './loadLibcuda.ts'
import { entryBytes } from './shape.ts'

export interface ProductTask {
  readonly precision: Precision
  readonly m: number
  readonly n: number
  readonly k: number
  readonly a: Handle
  readonly b: Handle
  readonly c: Handle
}

/** Best first. */
export type ProductMaker = 'cublasLt' | 'tensor' | 'plain'

/** C = A B^T, ready to be launched on the card's stream or captured in a graph. */
export interface Product {
  readonly by: ProductMaker
  /** Ways the library offers; ours has one. */
  readonly choices: number
  launch(choice?: number): void
  close(): void
}

const OLDEST: Readonly<Record<'library' | 'tensor', Readonly<Partial<Record<Precision, number>>>>> = {
  library: { int8: 75, fp8: 89, bf16: 80, fp16: 70 },
  tensor: { int8: 75, fp8: 89, bf16: 80, fp16: 75 },
}

/** Who can make a product of this precision on this card, best first; empty means unsupported. */
export function productMakers(precision: Precision, capability: number, library: boolean): ProductMaker[] {
  const makers: ProductMaker[] = []
  if (library && capability >= (OLDEST.library[precision] ?? Number.POSITIVE_INFINITY)) makers.push('cublasLt')
  if (capability >= (OLDEST.tensor[precision] ?? Number.POSITIVE_INFINITY)) makers.push('tensor')
  // §2: fp32 is the ordered sum, which no library promises.
  if (precision === 'fp32' || precision === 'int8') makers.push('plain')
  return makers
}

/** The best product this card has; where the library refuses the sizes, our own kernels take over. */
export function createProduct(tools: CardTools, task: ProductTask, only?: ProductMaker): Product {
  const makers = productMakers(task.precision, tools.capability, tools.cublasLt !== null)
  for (const maker of makers.filter((maker) => only === undefined || maker === only)) {
    const product = MAKERS[maker](tools, task)
    if (product) return product
  }
  throw new RangeError(`no product of ${task.precision} on this card`)
}

const MAKERS: Readonly<Record<ProductMaker, (tools: CardTools, task: ProductTask) => Product | null>> = {
  cublasLt: libraryProduct,
  tensor: tensorProduct,
  plain: plainProduct,
}

function libraryProduct(tools: CardTools, task: ProductTask): Product | null {
  const { pointer, bytes } = tools.workspace()
  try {
    const matmul = tools.cublasLt!.matmul({ ...task, workspace: pointer, workspaceBytes: bytes })
    if (matmul.choices === 0) {
      matmul.close()
      return null
    }
    return {
      by: 'cublasLt',
      choices: matmul.choices,
      launch: (choice = 0) => matmul.launch(choice, tools.stream),
      close: () => matmul.close(),
    }
  } catch {
    return null // the heuristics found nothing for these sizes
  }
}

/** Bytes of dynamic shared memory and the width of a block of C, as tensor80.cu and tensor89.cu have them. */
function tensorKernel({ kernels, capability }: Pick<CardTools, 'kernels' | 'capability'>, precision: Precision) {
  if (precision === 'fp8') return { kernel: kernels.get('tensor89', 'ts_tensor_fp8'), width: 128, sharedBytes: 65536 }
  if (precision === 'bf16') return { kernel: kernels.get('tensor80', 'ts_tensor_bf16'), width: 256, sharedBytes: 98304 }
  const name = precision === 'int8' ? 'ts_tensor_int8' : 'ts_tensor_fp16'
  return capability >= 80
    ? { kernel: kernels.get('tensor80', name), width: 256, sharedBytes: 98304 }
    : { kernel: kernels.get('tensor75', name), width: 128, sharedBytes: 0 }
}

function tensorProduct({ api, stream, ...tools }: CardTools, { precision, m, n, k, a, b, c }: ProductTask): Product {
  const { kernel, width, sharedBytes } = tensorKernel(tools, precision)
  if (sharedBytes > 0) api.allowSharedBytes(kernel, sharedBytes)
  const blocks = [Math.ceil(m / 128) * Math.ceil(n / width), 1] as const
  const args = [a, b, c, m, n, k * entryBytes(precision)]
  return {
    by: 'tensor',
    choices: 1,
    launch: () => api.launch({ kernel, blocks, threads: 256, sharedBytes, stream, arguments: args }),
    close: () => {},
  }
}

function plainProduct({ kernels, launch }: CardTools, { precision, m, n, k, a, b, c }: ProductTask): Product {
  const kernel = kernels.get('plainProduct', precision === 'fp32' ? 'ts_product_fp32' : 'ts_product_int8')
  const blocks = [Math.ceil(m / 128) * Math.ceil(n / 128), 1] as const
  return {
    by: 'plain',
    choices: 1,
    launch: () => launch(kernel, blocks, 256, [a, b, c, m, n, k]),
    close: () => {},
  }
}
