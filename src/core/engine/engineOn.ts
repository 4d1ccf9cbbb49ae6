import { KEPT_TILE_WORDS, MAX_K, MAX_SIZE, TILE } from '../params/constants.ts'
import { PRECISIONS } from '../params/precision.ts'
import type { LeafOpening, TileEngine, TileRequest } from '../proof/tileEngine.ts'
import type { Kernels, Pointer } from './kernels.ts'

const SEED_BYTES = 32
const HASH_BYTES = 32
const ELEMENTS = TILE * TILE
const TILE_BYTES = 4 * ELEMENTS
const KEPT_BYTES = 4 * KEPT_TILE_WORDS

/** What lies where, from the start of the engine's memory on. */
const SEED = 0
const FINGERPRINT = 64
/** A tree of two leaves: both, and the node above. */
const TREE = 128
const MASKS = 256
const OWN = MASKS + TILE_BYTES
const PARTNER = OWN + TILE_BYTES
const KEPT_OWN = PARTNER + TILE_BYTES
const KEPT_PARTNER = KEPT_OWN + KEPT_BYTES

/** What an engine needs of the memory that its kernels work on. */
export const ENGINE_BYTES = KEPT_PARTNER + KEPT_BYTES

/** The engine of any kernels, on ENGINE_BYTES of their memory from `start` on. */
export function engineOn(kernels: Kernels, memory: ArrayBuffer, start: Pointer): TileEngine {
  const bytes = new Uint8Array(memory, start, ENGINE_BYTES)
  /** An opening of a pass and that of its fill (§7) ask for the same tile. */
  let inOwn: TileRequest | null = null
  const make = (request: TileRequest, to: Pointer) => {
    requireInRange(request)
    bytes.set(request.seed, SEED)
    const { code } = PRECISIONS[request.precision]
    kernels.tile(start + SEED, code, request.k, request.tileRow, request.tileColumn, start + to)
  }
  const makeOwn = (request: TileRequest) => {
    if (request !== inOwn) make(request, OWN)
    inOwn = request
  }
  return {
    tile: (request) => {
      inOwn = null
      make(request, OWN)
      return new Uint32Array(memory, start + OWN, ELEMENTS).slice()
    },
    rootFrom: (opening) => {
      makeOwn(opening.own)
      if (opening.partner) make(opening.partner, PARTNER)
      fingerprint(kernels, start, opening)
      kernels.subtree(start + FINGERPRINT, opening.leaf, 1, 0, 1, start + TREE)
      return climb(kernels, start, bytes, opening)
    },
  }
}

function fingerprint(kernels: Kernels, start: Pointer, { partner, kept, salt }: LeafOpening): void {
  const count = kept ? KEPT_TILE_WORDS : ELEMENTS
  const [own, other] = kept ? [KEPT_OWN, KEPT_PARTNER] : [OWN, PARTNER]
  kernels.masks(salt, count, start + MASKS)
  if (kept) {
    kernels.keep(start + OWN, start + KEPT_OWN)
    kernels.keep(start + PARTNER, start + KEPT_PARTNER)
  }
  if (partner) kernels.fingerprintPair(start + own, start + other, start + MASKS, count, start + FINGERPRINT)
  else kernels.fingerprintTile(start + own, start + MASKS, start + FINGERPRINT)
}

/** From the leaf, which lies in the tree already, to the root. */
function climb(kernels: Kernels, start: Pointer, bytes: Uint8Array, { leaf, path }: LeafOpening): Uint8Array {
  let at = TREE
  for (let depth = 0; depth * HASH_BYTES < path.length; depth++) {
    const isRight = Math.floor(leaf / 2 ** depth) % 2
    bytes.copyWithin(TREE + isRight * HASH_BYTES, at, at + HASH_BYTES)
    bytes.set(path.subarray(depth * HASH_BYTES, (depth + 1) * HASH_BYTES), TREE + (1 - isRight) * HASH_BYTES)
    kernels.crown(2, 1, start + TREE)
    at = TREE + 2 * HASH_BYTES
  }
  return bytes.slice(at, at + HASH_BYTES)
}

/** The kernel counts entries in u32 and takes k 32 at a time; outside that it would answer wrongly, so it is not asked. */
function requireInRange({ seed, k, tileRow, tileColumn }: TileRequest): void {
  const inMatrix = (tiles: number) => Number.isInteger(tiles) && tiles >= 0 && tiles < MAX_SIZE / TILE
  if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes, got ${seed.length}`)
  if (!Number.isInteger(k) || k <= 0 || k > MAX_K || k % TILE !== 0)
    throw new RangeError(`k must be a multiple of ${TILE} up to ${MAX_K}, got ${k}`)
  if (!inMatrix(tileRow) || !inMatrix(tileColumn))
    throw new RangeError(`tile (${tileRow}, ${tileColumn}) lies outside the largest matrix`)
}
