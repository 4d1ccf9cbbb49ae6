import { concatBytes, u32le, words32 } from '../../src/core/bytes/bytes.ts'
import { taggedHash } from '../../src/core/bytes/sha256.ts'
import { KEPT_TILE_WORDS, TILE } from '../../src/core/params/constants.ts'
import type { Precision } from '../../src/core/params/precision.ts'
import { type Fingerprint, fingerprintTile } from '../../src/core/proof/fingerprint.ts'
import { buildTree, leafHash, pathOf, rootOf } from '../../src/core/proof/merkle.ts'
import { bindPartner, keptWords, passPartner } from '../../src/core/proof/partners.ts'
import { nextPass, nextSeed } from '../../src/core/proof/seeds.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { cudaFault } from '../../src/drivers/gpu/cuda/cudaFault.ts'
import type { CudaApi, Handle, HostMemory, KernelArgument, Launch } from '../../src/drivers/gpu/cuda/loadLibcuda.ts'
import { productTiles } from './referenceRound.ts'

/** What a test may make go wrong, by the driver's name of the call. */
export interface FakeTrouble {
  /** Only on this card; on all of them unless said. */
  readonly card?: number
  readonly failing?: Readonly<Record<string, number>>
  /** How often a failing call works before it fails. */
  readonly after?: Readonly<Record<string, number>>
  /** Rounds never end, and waiting for them neither. */
  readonly hung?: boolean
  /** Cards cannot read one another's memory. */
  readonly apart?: boolean
  /** One bit of every product is wrong. */
  readonly inexact?: boolean
}

const MEMORY_BYTES = 64 * 2 ** 20
const HOST_BASE = 1n << 40n
const NEXT = 0
const CONTEXTS = 1

/** How many contexts are open on all cards of an arena. */
export const openContexts = (arena: SharedArrayBuffer): number => Atomics.load(new Int32Array(arena, 0, 2), CONTEXTS)

/**
 * A driver without a card: kernels are done by name with the plain definitions of core, on a memory shared by all threads
 * of the test. It knows the layouts the kernels have, so that every pointer, slot and width of the host code is exercised.
 */
export class FakeCuda implements CudaApi {
  readonly driverVersion = 13_000
  readonly #arena: Uint8Array
  readonly #shared: Int32Array
  readonly #engine: TileEngine
  #trouble: FakeTrouble
  readonly #called = new Map<string, number>()
  #card = 'NVIDIA driver'
  readonly #sizes = new Map<Handle, number>()
  readonly #host = new Map<Handle, Uint8Array>()
  readonly #kernels: string[] = []
  readonly #graphs = new Map<Handle, Launch[]>()
  #capturing: Launch[] | null = null
  #handles = 1n

  /** `arena` has its first 64 bytes for bookkeeping. */
  constructor(arena: SharedArrayBuffer, engine: TileEngine, trouble: FakeTrouble = {}) {
    this.#arena = new Uint8Array(arena)
    this.#shared = new Int32Array(arena, 0, 2)
    this.#engine = engine
    this.#trouble = trouble
  }

  /** Of the host: pinned memory not given back. */
  get hostBuffers(): number {
    return this.#host.size
  }

  get heldBytes(): number {
    return [...this.#sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  deviceCount = () => 1
  deviceName = () => 'NVIDIA Fake'
  deviceUuid = () => 'GPU-00000000-0000-0000-0000-000000000000'
  devicePci = () => '0000:00:00.0'
  deviceAttribute = (_: number, attribute: number) => (attribute === 75 ? 9 : attribute === 76 ? 0 : 1)
  contextAttribute = () => 1
  reachesAll = () => this.#trouble.apart !== true
  openContext(ordinal: number): Handle {
    this.#card = `card ${ordinal} (NVIDIA Fake)`
    if (ordinal !== (this.#trouble.card ?? ordinal)) this.#trouble = {}
    this.#check('cuDevicePrimaryCtxRetain')
    Atomics.add(this.#shared, CONTEXTS, 1)
    return 7n
  }
  useContext = () => {}
  closeContext(): void {
    Atomics.sub(this.#shared, CONTEXTS, 1)
  }
  enablePeer = () => {
    if (this.#trouble.apart)
      throw cudaFault({ call: 'cuCtxEnablePeerAccess', status: 217, statusName: '', card: this.#card })
  }
  freeMemory = () => ({ freeBytes: MEMORY_BYTES - this.heldBytes, totalBytes: MEMORY_BYTES })

  allocate(bytes: number): Handle {
    this.#check('cuMemAlloc')
    const freeBytes = MEMORY_BYTES - this.heldBytes
    if (bytes > freeBytes)
      throw cudaFault({
        call: 'cuMemAlloc',
        status: 2,
        statusName: 'CUDA_ERROR_OUT_OF_MEMORY',
        card: this.#card,
        askedBytes: bytes,
        freeBytes,
      })
    const units = Math.ceil(bytes / 256) + 1
    const pointer = 256 * (1 + Atomics.add(this.#shared, NEXT, units))
    this.#sizes.set(BigInt(pointer), bytes)
    return BigInt(pointer)
  }
  free(pointer: Handle): void {
    this.#check('cuMemFree')
    if (!this.#sizes.delete(pointer)) throw new Error(`free of ${pointer}, which is not held`)
  }
  allocateHost(bytes: number): HostMemory {
    this.#check('cuMemHostAlloc')
    const memory = { pointer: HOST_BASE * this.#handles++, bytes: new Uint8Array(bytes) }
    this.#host.set(memory.pointer, memory.bytes)
    return memory
  }
  freeHost(memory: HostMemory): void {
    if (!this.#host.delete(memory.pointer)) throw new Error('freeHost of memory that is not held')
  }
  zero(pointer: Handle, bytes: number): void {
    this.#at(pointer, bytes).fill(0)
  }
  upload(to: Handle, bytes: Uint8Array): void {
    this.#at(to, bytes.length).set(bytes)
  }
  download(from: Handle, length: number): Uint8Array {
    return this.#at(from, length).slice()
  }
  downloadTo(bytes: Uint8Array, from: Handle): void {
    bytes.set(this.#at(from, bytes.length))
  }
  copyAsync(to: Handle, from: Handle, bytes: number): void {
    this.#check('cuMemcpyAsync')
    this.#at(to, bytes).set(this.#at(from, bytes))
  }
  loadModule(): Handle {
    this.#check('cuModuleLoadData')
    return 1n
  }
  kernel(_: Handle, name: string): Handle {
    this.#kernels.push(name)
    return BigInt(this.#kernels.length)
  }
  allowSharedBytes = () => {}
  launch(launch: Launch): void {
    if (this.#capturing) this.#capturing.push(launch)
    else this.#run(launch)
  }
  createStream(): Handle {
    this.#check('cuStreamCreate')
    return this.#handles++
  }
  destroyStream = () => {}
  synchronize(): void {
    this.#check('cuStreamSynchronize')
    if (this.#trouble.hung) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
  idle(): boolean {
    this.#check('cuStreamQuery')
    return true
  }
  isReached = () => true
  beginCapture(): void {
    this.#capturing = []
  }
  endCapture(): Handle {
    const graph = this.#handles++
    this.#graphs.set(graph, this.#capturing!)
    this.#capturing = null
    return graph
  }
  launchGraph(graph: Handle): void {
    this.#check('cuGraphLaunch')
    if (this.#trouble.hung) return
    for (const launch of this.#graphs.get(graph)!) this.#run(launch)
  }
  destroyGraph(graph: Handle): void {
    if (!this.#graphs.delete(graph)) throw new Error('destroyGraph of a graph that is not held')
  }
  createEvent = () => this.#handles++
  waitEvent = () => {}
  recordEvent = () => {}
  elapsedMs = () => 1
  destroyEvent = () => {}

  #check(call: string): void {
    const status = this.#trouble.failing?.[call]
    if (status === undefined) return
    const before = this.#called.get(call) ?? 0
    this.#called.set(call, before + 1)
    if (before >= (this.#trouble.after?.[call] ?? 0))
      throw cudaFault({ call, status, statusName: 'FAKE', card: this.#card })
  }

  #at(pointer: Handle, bytes: number): Uint8Array {
    for (const [start, memory] of this.#host)
      if (pointer >= start && pointer < start + BigInt(memory.length))
        return memory.subarray(Number(pointer - start), Number(pointer - start) + bytes)
    const at = Number(pointer)
    if (at < 256 || at + bytes > this.#arena.length) throw new Error(`access to ${pointer}, outside the memory`)
    return this.#arena.subarray(at, at + bytes)
  }

  #words(pointer: Handle, count: number): Uint32Array {
    const bytes = this.#at(pointer, 4 * count)
    return new Uint32Array(bytes.buffer, bytes.byteOffset, count)
  }

  #run({ kernel, blocks, arguments: args }: Launch): void {
    const name = this.#kernels[Number(kernel) - 1]!
    const [blockCount] = blocks
    if (name.startsWith('ts_entries_')) this.#entries(args)
    else if (name.startsWith('ts_product_') || name.startsWith('ts_tensor_')) this.#product(name, args)
    else if (name.startsWith('ts_leaves_')) this.#leaves(name, args, blockCount)
    else if (name === 'ts_fold') this.#fold(args, blockCount)
    else if (name === 'ts_finish_round') this.#finishRound(args)
    else if (name === 'ts_pass') this.#pass(args, blockCount)
    else if (name === 'ts_pass_wide') this.#passWide(args, blockCount)
    else if (name === 'ts_fold_many') this.#foldMany(args, blockCount)
    else if (name === 'ts_pass_again') this.#passAgain(args, blockCount)
    else if (name === 'ts_finish_pass') this.#finishPass(args)
    else if (name === 'ts_paths') this.#paths(args, blockCount)
    else throw new Error(`the fake driver has no kernel ${name}`)
  }

  #state(pointer: KernelArgument) {
    const bytes = this.#at(pointer as Handle, 56)
    const view = new DataView(bytes.buffer, bytes.byteOffset, 56)
    return {
      seed: bytes.slice(0, 32),
      round: view.getUint32(32, true),
      next: (seed: Uint8Array) => {
        bytes.set(seed)
        view.setUint32(32, view.getUint32(32, true) + 1, true)
      },
      tell: (root: Uint8Array) => {
        const round = view.getUint32(32, true)
        this.#at(view.getBigUint64(40, true) + BigInt(32 * round), 32).set(root)
        this.#words(view.getBigUint64(48, true), 1)[0] = round + 1
      },
    }
  }

  /** Operands are only named here: their seed stands in both. */
  #entries([a, b, state]: readonly KernelArgument[]): void {
    this.#at(a as Handle, 32).set(this.#state(state!).seed)
    this.#at(b as Handle, 32).set(this.#state(state!).seed)
  }

  #product(name: string, [a, , c, m, n, depth]: readonly KernelArgument[]): void {
    const precision = name.replace(/^ts_(product|tensor)_/, '') as Precision
    const seed = this.#at(a as Handle, 32).slice()
    const bytes = name.startsWith('ts_product_') || precision === 'int8' || precision === 'fp8' ? 1 : 2
    const shape = { precision, m: Number(m), n: Number(n), k: Number(depth) / bytes }
    const out = this.#words(c as Handle, shape.m * shape.n)
    for (const [index, tile] of productTiles(seed, shape, this.#engine).entries()) {
      const [row, column] = [TILE * Math.floor(index / (shape.n / TILE)), TILE * (index % (shape.n / TILE))]
      for (let r = 0; r < TILE; r++) out.set(tile.subarray(TILE * r, TILE * r + TILE), (row + r) * shape.n + column)
    }
    if (this.#trouble.inexact) out[out.length - 1]! ^= 1
  }

  #leaves(name: string, args: readonly KernelArgument[], blockCount: number): void {
    const [c, state, count, columnsLog2, keep, prints, nodes, kept] = args as [
      Handle,
      Handle,
      number,
      number,
      number,
      Handle,
      Handle,
      Handle,
    ]
    const { seed, round } = this.#state(state)
    const slot = keep ? round : 0
    const columns = 2 ** columnsLog2
    const tiles = Array.from({ length: count }, (_, tile) => this.#tile(c, tile, columns, count))
    const salt = words32(seed)[3]!
    const found = tiles.map((tile, index) =>
      name === 'ts_leaves_bind'
        ? fingerprintTile(tile, salt, tiles[bindPartner(index, seed, count)]!)
        : fingerprintTile(tile, salt),
    )
    this.#keepPrints(prints + BigInt(16 * slot * count), found)
    const group = Math.min(count, name === 'ts_leaves_bind' || name === 'ts_leaves_fill' ? 256 : 8)
    if (blockCount !== Math.max(1, count / 256)) throw new Error(`${name} with ${blockCount} blocks`)
    this.#writeGroups(nodes + BigInt(32 * slot * (count / group)), found, group, 0)
    if (name === 'ts_leaves_fill')
      for (const [index, tile] of tiles.entries())
        this.#words(kept + BigInt(2048 * (slot * count + index)), KEPT_TILE_WORDS).set(keptWords(tile))
  }

  #tile(c: Handle, tile: number, columns: number, count: number): Uint32Array {
    const n = TILE * columns
    const all = this.#words(c, count * TILE * TILE)
    const start = TILE * Math.floor(tile / columns) * n + TILE * (tile % columns)
    const found = new Uint32Array(TILE * TILE)
    for (let row = 0; row < TILE; row++) found.set(all.subarray(start + row * n, start + row * n + TILE), TILE * row)
    return found
  }

  #keepPrints(to: Handle, prints: readonly Fingerprint[]): void {
    const bytes = this.#at(to, 16 * prints.length)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (const [i, { f0, f1 }] of prints.entries()) {
      view.setBigUint64(16 * i, f0, true)
      view.setBigUint64(16 * i + 8, f1, true)
    }
  }

  #writeGroups(to: Handle, prints: readonly Fingerprint[], group: number, firstLeaf: number): void {
    for (let at = 0; at < prints.length; at += group) {
      const leaves = prints.slice(at, at + group).map((print, i) => leafHash(firstLeaf + at + i, print))
      this.#at(to + BigInt((32 * at) / group), 32).set(rootOf(leaves))
    }
  }

  #hashes(from: Handle, count: number): Uint8Array[] {
    return Array.from({ length: count }, (_, i) => this.#at(from + BigInt(32 * i), 32).slice())
  }

  #fold(args: readonly KernelArgument[], blockCount: number): void {
    const [nodes, folded, round, perRound, width] = args as [Handle, Handle, Handle, number, number]
    const from = nodes + BigInt(32 * (round ? this.#words(round, 1)[0]! : 0) * perRound)
    for (let block = 0; block < blockCount; block++)
      this.#at(folded + BigInt(32 * block), 32).set(rootOf(this.#hashes(from + BigInt(32 * width * block), width)))
  }

  #finishRound(args: readonly KernelArgument[]): void {
    const [nodes, pointer, perRound, width] = args as [Handle, Handle, number, number]
    const state = this.#state(pointer)
    const root = rootOf(this.#hashes(nodes + BigInt(32 * state.round * perRound), width))
    state.tell(root)
    state.next(nextSeed(state.seed, root))
  }

  #passPrints(
    fill: Handle,
    partners: Handle,
    partnerCount: number,
    z: Uint8Array,
    first: number,
    unit: number,
  ): Fingerprint[] {
    const words = (base: Handle, u: number) => this.#words(base + BigInt(2048 * u), KEPT_TILE_WORDS)
    return Array.from({ length: unit }, (_, i) =>
      fingerprintTile(words(fill, first + i), words32(z)[2]!, words(partners, passPartner(first + i, z, partnerCount))),
    )
  }

  #pass(args: readonly KernelArgument[], blockCount: number): void {
    const [fill, partners, partnerCount, pointer, unit, nodes] = args as [
      Handle,
      Handle,
      number,
      Handle,
      number,
      Handle,
    ]
    const { seed, round } = this.#state(pointer)
    for (let block = 0; block < blockCount; block++) {
      const prints = this.#passPrints(fill, partners, partnerCount, seed, block * unit, unit)
      this.#writeGroups(nodes + BigInt(32 * (round * blockCount + block)), prints, unit, block * unit)
    }
  }

  #passWide(args: readonly KernelArgument[], blockCount: number): void {
    const [fill, partners, partnerCount, pointer, groups] = args as [Handle, Handle, number, Handle, Handle]
    const { seed } = this.#state(pointer)
    for (let block = 0; block < blockCount; block++) {
      const prints = this.#passPrints(fill, partners, partnerCount, seed, block * 256, 256)
      this.#writeGroups(groups + BigInt(32 * 32 * block), prints, 8, block * 256)
    }
  }

  #foldMany(args: readonly KernelArgument[], blockCount: number): void {
    const [groups, nodes, pointer, units] = args as [Handle, Handle, Handle, number]
    const { round } = this.#state(pointer)
    for (let unit = 0; unit < 16 * blockCount; unit++) {
      const root = rootOf(this.#hashes(groups + BigInt(32 * 32 * unit), 32))
      this.#at(nodes + BigInt(32 * (round * units + unit)), 32).set(root)
    }
  }

  #passAgain(args: readonly KernelArgument[], blockCount: number): void {
    const [fill, partners, partnerCount, requests, unit, nodes, prints] = args as [
      Handle,
      Handle,
      number,
      Handle,
      number,
      Handle,
      Handle,
    ]
    for (let block = 0; block < blockCount; block++) {
      const request = requests + BigInt(64 * block)
      const index = this.#words(request + 32n, 1)[0]!
      const found = this.#passPrints(fill, partners, partnerCount, this.#at(request, 32), index * unit, unit)
      this.#keepPrints(prints + BigInt(16 * unit * block), found)
      this.#writeGroups(nodes + BigInt(32 * block), found, unit, index * unit)
    }
  }

  #finishPass([root, pointer]: readonly KernelArgument[]): void {
    const state = this.#state(pointer!)
    const q = taggedHash('tsp1/mem', u32le(state.round), this.#at(root as Handle, 32))
    state.tell(q)
    state.next(nextPass(state.seed, q))
  }

  #paths([requests]: readonly KernelArgument[], blockCount: number): void {
    for (let block = 0; block < blockCount; block++) {
      const bytes = this.#at((requests as Handle) + BigInt(56 * block), 56).slice()
      const view = new DataView(bytes.buffer)
      const long = (at: number) => view.getBigUint64(at, true)
      const [unit, inUnit, count, index] = [40, 44, 48, 52].map((at) => view.getUint32(at, true)) as [
        number,
        number,
        number,
        number,
      ]
      const prints = unit ? this.#at(long(0), 16 * unit).slice() : new Uint8Array(0)
      const pairs = new BigUint64Array(prints.buffer, 0, 2 * unit)
      const leaves = Array.from({ length: unit }, (_, i) =>
        leafHash(Number(long(8)) + i, { f0: pairs[2 * i]!, f1: pairs[2 * i + 1]! }),
      )
      const below = unit ? pathOf(buildTree(leaves), inUnit) : new Uint8Array(0)
      const path = concatBytes(below, pathOf(buildTree(this.#hashes(long(16), count)), index))
      this.#at(long(32), path.length).set(path)
    }
  }
}
