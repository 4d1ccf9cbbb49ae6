import { concatBytes } from '../../../../core/bytes/bytes.ts'
import { HASH_BYTES, nodeHash } from '../../../../core/proof/merkle.ts'
import type { Place } from '../../../../core/work/op.ts'
import { leavesOf, rowBytes, tensorBytes } from '../../../../core/work/tensor.ts'
import { depthOf } from '../../../../core/work/tensorTree.ts'
import type { CudaApi, Handle } from '../loadLibcuda.ts'
import type { CardLauncher } from './cardKernels.ts'

/** As kernels/cuda/work/trees.h has them: levels that a thread and a block lead to one hash, bytes of a tree in a table. */
const [THREAD_LEVELS, BLOCK_LEVELS, TREE_BYTES] = [3, 8, 48]
const TREE_THREADS = 2 ** BLOCK_LEVELS
/** Leaves of so many bytes are several to a thread. */
const SHORT_LEAF = 512
/** More than any tree has. */
const MOST_LEVELS = 64
/** Of a kernel that leaves room for others beside it: two for each multiprocessor of the largest cards. */
const FEW_BLOCKS = 264
/** Tensors that are made are hashed once they have so many bytes together. */
const BATCH_BYTES = 2 ** 29

/** A tensor on the way to its root: its leaves, or so many hashes of a level of its tree. */
interface Tree {
  readonly from: number
  readonly root: number
  readonly count: number
  readonly level: number
  readonly levelsLeft: number
  /** 0 where there are hashes. */
  readonly rowBytes: number
}

export interface RootsTools {
  readonly api: CudaApi
  readonly launcher: CardLauncher
  /** Memory under a name, and bytes in memory that kernels read. */
  readonly room: (name: string, bytes: number) => Handle
  readonly table: (name: string, bytes: Uint8Array, stream: Handle) => Handle
}

/** Roots of many tensors at once. */
export class CardRoots {
  readonly #tools: RootsTools
  #padding: Handle = 0n

  constructor(tools: RootsTools) {
    this.#tools = tools
  }

  queue(places: readonly Place[], to: number, stream: Handle): void {
    const trees = places.map((place, i) => treeOf(place, to + i * HASH_BYTES))
    this.finish(trees, stream)
  }

  /** All levels that are left. */
  finish(trees: readonly Tree[], stream: Handle): void {
    for (let turn = 0, left = trees; left.length > 0; turn++) left = this.levels(left, `${turn}`, stream)
  }

  /** Some levels of every tree, by few blocks where others shall run beside them; returns what is left to do. */
  levels(trees: readonly Tree[], label: string, stream: Handle, areFew = false): readonly Tree[] {
    const { room, table: lay, launcher } = this.#tools
    const steps = trees.map(levelsAtOnce)
    const made = steps.reduce((sum, { hashes }) => sum + hashes, 0)
    let to = Number(room(`hashes ${label}`, HASH_BYTES * made))
    const table = new DataView(new ArrayBuffer(TREE_BYTES * trees.length))
    let blocks = 0
    const above = trees.flatMap((tree, i) => {
      const { byThread, byBlock, hashes } = steps[i]!
      const next = { ...tree, level: tree.level + byThread + byBlock, levelsLeft: tree.levelsLeft - byThread - byBlock }
      const end = next.levelsLeft === 0 ? tree.root : to
      for (const [at, value] of [tree.from, end, tree.count].entries())
        table.setBigUint64(TREE_BYTES * i + 8 * at, BigInt(value), true)
      for (const [at, value] of [tree.rowBytes, tree.level, byThread, byBlock, blocks].entries())
        table.setUint32(TREE_BYTES * i + 24 + 4 * at, value, true)
      blocks += Math.ceil(hashes / TREE_THREADS)
      if (next.levelsLeft === 0) return []
      to += HASH_BYTES * hashes
      return [{ ...next, from: end, count: hashes, rowBytes: 0 }]
    })
    const there = lay(`trees ${label}`, new Uint8Array(table.buffer), stream)
    const grid = areFew ? Math.min(blocks, FEW_BLOCKS) : blocks
    launcher.launch('treesUp', [grid, 1], [there, trees.length, blocks, this.#zeros()], { stream })
    return above
  }

  /** The hash over nothing but padding, of every level. */
  #zeros(): Handle {
    if (this.#padding === 0n) {
      const hashes = [new Uint8Array(HASH_BYTES) as Uint8Array]
      while (hashes.length < MOST_LEVELS) hashes.push(nodeHash(hashes.at(-1)!, hashes.at(-1)!))
      this.#padding = this.#tools.room('padding', HASH_BYTES * MOST_LEVELS)
      this.#tools.api.upload(this.#padding, concatBytes(...hashes))
    }
    return this.#padding
  }
}

interface MadeTools {
  readonly names: readonly string[]
  readonly to: number
  readonly placeOf: (name: string) => Place
  readonly stream: Handle
  readonly isBeside: boolean
  /** What is queued on the stream from here on comes after the steps so far. */
  readonly follow: () => void
  /** An event behind all that is queued. */
  readonly end: () => Handle
}

/**
 * Roots of tensors that steps are about to make. Hashing takes instructions and what makes a state takes memory's time, so
 * that both run well beside each other; beside a product, which fills the card, they would not.
 */
export class RootsAsMade {
  readonly #roots: CardRoots
  readonly #tools: MadeTools
  readonly #places: Map<string, number[]>
  #ready: Tree[] = []
  #bytes = 0
  readonly #above: Tree[] = []
  #batches = 0

  constructor(roots: CardRoots, tools: MadeTools) {
    this.#roots = roots
    this.#tools = tools
    this.#places = new Map()
    for (const [i, name] of tools.names.entries()) this.#places.set(name, [...(this.#places.get(name) ?? []), i])
  }

  /** A step has been queued that makes these. */
  made(names: Iterable<string>): void {
    for (const name of names) {
      const places = this.#places.get(name)
      if (!places) continue
      this.#places.delete(name)
      const place = this.#tools.placeOf(name)
      this.#ready.push(...places.map((i) => treeOf(place, this.#tools.to + i * HASH_BYTES)))
      this.#bytes += tensorBytes(place.shape)
    }
    if (this.#bytes >= BATCH_BYTES) this.#leaves()
  }

  #leaves(): void {
    const { follow, stream, isBeside } = this.#tools
    follow()
    this.#above.push(...this.#roots.levels(this.#ready, `of leaves ${this.#batches++}`, stream, isBeside))
    this.#ready = []
    this.#bytes = 0
  }

  /** All steps are queued. Returns an event: then all roots, and the steps, are done. */
  end(): Handle {
    this.made([...this.#places.keys()])
    if (this.#ready.length > 0) this.#leaves()
    this.#tools.follow()
    this.#roots.finish(this.#above, this.#tools.stream)
    return this.#tools.end()
  }
}

function treeOf({ at, shape }: Place, root: number): Tree {
  const count = leavesOf(shape)
  return { from: at, root, count, level: 0, levelsLeft: depthOf(count), rowBytes: rowBytes(shape) }
}

interface Levels {
  readonly byThread: number
  readonly byBlock: number
  /** That are left of those of the tree, without padding. */
  readonly hashes: number
}

/**
 * How many levels of a tree one launch takes. Threads that share a tree wait for each other: they do so for its last levels
 * alone. Short leaves are several to a thread.
 */
function levelsAtOnce({ count, levelsLeft, rowBytes: bytes }: Tree): Levels {
  const most = bytes === 0 ? THREAD_LEVELS : 0
  if (levelsLeft <= most + BLOCK_LEVELS) {
    const byThread = Math.max(0, levelsLeft - BLOCK_LEVELS)
    return { byThread, byBlock: levelsLeft - byThread, hashes: 1 }
  }
  const byThread = bytes <= SHORT_LEAF ? THREAD_LEVELS : 0
  return { byThread, byBlock: 0, hashes: Math.ceil(count / 2 ** byThread) }
}
