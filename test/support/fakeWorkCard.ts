import { floatOf } from '../../src/core/work/ops/shapes.ts'
import { LEAF_BYTES } from '../../src/core/work/tensor.ts'
import { createWorkKernels, WORK_ARGUMENTS, type WorkKernels } from '../../src/core/work/workKernels.ts'
import type { CudaApi, Handle, Launch } from '../../src/drivers/gpu/cuda/loadLibcuda.ts'

/**
 * A driver whose card is WebAssembly: kernels of kernels/cuda/work.cu that are one op are that op, the few others are
 * written here a second time. It shows what is queued with which arguments, not what a card makes of it.
 */
export async function fakeWorkDriver(
  wasmBytes: Uint8Array,
): Promise<CudaApi & { readonly launched: string[]; readonly held: Set<Handle> }> {
  const { kernels, field, free, memory } = await createWorkKernels(wasmBytes)
  const launched: string[] = []
  const held = new Set<Handle>()
  /** Memory is of the context that was current, and everything that touches it must be too. */
  const owners = new Map<Handle, Handle>()
  let current: Handle = 0n
  const requireOwner = (pointer: Handle): void => {
    const owner = [...owners].findLast(([from]) => from <= pointer)?.[1]
    if (owner !== current) throw new Error('memory of another context')
  }
  const names: string[] = []
  let end = Math.ceil(free / 256) * 256
  const words = () => new Uint32Array(memory(0))
  const ints = () => new Int32Array(memory(0))
  const floats = () => new Float32Array(memory(0))
  const bytes = () => new Uint8Array(memory(0))

  const BLOCK = 256
  const TREE_WORDS = 12
  /** As kernels/cuda/work/trees.h has them. */
  const treesIn = (table: number, count: number) =>
    Array.from({ length: count }, (_, i) => {
      const [from, , to, , hashes, , rowBytes, level, group, fold, first] = words().slice(
        table / 4 + TREE_WORDS * i,
        table / 4 + TREE_WORDS * (i + 1),
      )
      const next = i + 1 < count ? words()[table / 4 + TREE_WORDS * (i + 1) + 10]! : grid
      const sizes = { count: hashes!, rowBytes: rowBytes!, level: level!, group: group!, fold: fold! }
      return { from: from!, to: to!, ...sizes, blocks: next - first! }
    })
  let grid = 0
  const more: Record<string, (args: readonly number[]) => void> = {
    treesUp([table, many, blocksInAll, padding]) {
      grid = blocksInAll!
      for (const { from, to, count, rowBytes, level, group, fold, blocks } of treesIn(table!, many!)) {
        const across = fold > 0 ? 2 ** (group + fold) : Math.ceil(count / 2 ** group) * 2 ** group
        const room = end + 2 ** 20
        memory(room + 32 * across - free)
        if (count > across || across > blocks * BLOCK * 2 ** group) throw new Error('hashes were left out')
        if (rowBytes > 0) kernels.leaves(from, room, count / Math.ceil(rowBytes / LEAF_BYTES), rowBytes)
        else bytes().copyWithin(room, from, from + 32 * count)
        const empty = padding! + 32 * level
        for (let i = count; i < across; i++) bytes().copyWithin(room + 32 * i, empty, empty + 32)
        for (let up = 1; up <= group + fold; up++) kernels.nodes(room, room, across / 2 ** up)
        bytes().copyWithin(to, room, room + (32 * across) / 2 ** (group + fold))
      }
    },
    gradientNormOf([table, to, count]) {
      let total = 0
      for (let i = 0; i < count!; i++) total = Math.fround(total + floats()[words()[table! / 4 + 2 * i]! / 4]!)
      floats()[to! / 4] = Math.sqrt(total)
    },
    padRows([x, to, rows, width, from, apart]) {
      const memory = bytes()
      for (let i = 0; i < rows! * apart!; i++) {
        const [row, column] = [Math.floor(i / apart!), i % apart!]
        memory[to! + i] = column < width! ? memory[x! + row * from! + column]! : 0
      }
    },
    pointWeights: ([point, to, coordinates]) => void field.pointWeights(point!, to!, coordinates!),
    columnsTimesI8([x, weights, sums, rows, width]) {
      const stretch = 512
      for (let first = 0, to = sums!; first < rows!; first += stretch, to += 16 * width!) {
        bytes().fill(0, to, to + 16 * width!)
        const here = Math.min(stretch, rows! - first)
        field.columnsTimesI8(x! + first * width!, weights! + 16 * first, to, here, width!)
      }
    },
    addStretches([sums, to, stretches, width, length]) {
      const halves = new BigUint64Array(memory(0))
      for (let half = 0; half < 2 * length!; half++) {
        let sum = 0n
        for (let y = 0; y < stretches! && half < 2 * width!; y++) sum += halves[sums! / 8 + 2 * width! * y + half]!
        halves[to! / 8 + half] = sum % (2n ** 61n - 1n)
      }
    },
    // The op has written floats already.
    pictureRays() {},
    embedSums([tokens, q, sums, count, , channels, from, here]) {
      for (let channel = 0; channel < channels!; channel++)
        for (let i = from!; i < from! + here!; i++) {
          const kind = words()[tokens! / 4 + i]!
          if (kind !== 0xffffffff)
            ints()[sums! / 4 + kind * channels! + channel]! += new Int8Array(memory(0))[q! + channel * count! + i]!
        }
    },
    embedTake([sums, scales, to, kinds, width, first, channels, pieces, piece]) {
      for (let n = 0; n < kinds! * channels!; n++) {
        const channel = n % channels!
        const at = to! / 4 + Math.floor(n / channels!) * width! + first! + channel
        const term = Math.fround(
          Math.fround(ints()[sums! / 4 + n]!) * floats()[scales! / 4 + channel * pieces! + piece!]!,
        )
        floats()[at] = (piece === 0 ? 0 : floats()[at]!) + term
        ints()[sums! / 4 + n] = 0
      }
    },
  }
  const isOp = (name: string): name is keyof WorkKernels => Object.hasOwn(WORK_ARGUMENTS, name)
  const run = (name: string, blocks: readonly [number, number], given: readonly (bigint | number)[]) => {
    const [fault, ...args] = given.map(Number) as [number, ...number[]]
    launched.push(name)
    grid = blocks[0]
    if (!isOp(name)) return more[name]!(args)
    const call = kernels[name] as (...args: readonly number[]) => number
    const typed = args.map((value, i) => (WORK_ARGUMENTS[name][i] === 'f' ? floatOf(value) : value))
    for (let y = 0; y < blocks[1]; y++) {
      if (call(...typed) !== 0) words()[fault / 4] = 1
      const matrix = args[2]! * args[3]! * (name === 'transposeBytes' ? 1 : 4)
      if (blocks[1] > 1) typed.splice(0, 2, typed[0]! + matrix, typed[1]! + matrix)
    }
  }
  const own: Partial<CudaApi> = {
    useContext: (context) => {
      current = context
    },
    closeContext: () => {},
    createStream: () => 1n,
    destroyStream: () => {},
    synchronize: () => {},
    idle: () => true,
    createEvent: () => 1n,
    recordEvent: () => {},
    isReached: () => true,
    waitEvent: () => {},
    destroyEvent: () => {},
    allocate: (size) => {
      if (size === 0) throw new Error('nothing cannot be allocated')
      const at = end
      end += Math.ceil(size / 256) * 256
      memory(end - free)
      bytes().fill(0xa5, at, end)
      held.add(BigInt(at))
      owners.set(BigInt(at), current)
      return BigInt(at)
    },
    free: (pointer) => {
      requireOwner(pointer)
      if (!held.delete(pointer)) throw new Error('freed twice, or never allocated')
    },
    zero: (pointer, size) => void bytes().fill(0, Number(pointer), Number(pointer) + size),
    upload: (to, from) => {
      requireOwner(to)
      bytes().set(from, Number(to))
    },
    download: (from, length) => {
      requireOwner(from)
      return bytes().slice(Number(from), Number(from) + length)
    },
    loadModule: () => 1n,
    kernel: (_, name) => BigInt(names.push(name.replace('wk_', '')) - 1),
    launch: ({ kernel, blocks, arguments: args }: Launch) => run(names[Number(kernel)]!, blocks, args),
  }
  return { ...own, launched, held } as CudaApi & { readonly launched: string[]; readonly held: Set<Handle> }
}
