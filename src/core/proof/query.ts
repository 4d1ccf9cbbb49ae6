import { ascii, joinBytes, u32le } from '../bytes/bytes.ts'
import { sha256, taggedHash } from '../bytes/sha256.ts'

export interface QueryInputs {
  readonly x: Uint8Array
  readonly s: Uint8Array
  readonly nonce: Uint8Array
  /** Only where a second phase was begun. */
  readonly z?: Uint8Array | null
  /** Device by device, rounds ascending. */
  readonly roots: readonly (readonly Uint8Array[])[]
}

/** §4.4. Known to nobody before the last root is in: the nonce is the validator's, the roots are the prover's. */
export function queryHash({ x, s, nonce, z, roots }: QueryInputs): Uint8Array {
  return sha256(joinBytes([ascii('tsp1/query'), x, s, nonce, ...(z ? [z] : [])].concat(...roots)))
}

export interface Draw {
  readonly round: number
  readonly tile: number
}

/** §4.4. Opening i of device d draws its own round and tile; repeats are kept. */
export function drawOpening(query: Uint8Array, device: number, index: number, rounds: number, tiles: number): Draw {
  const view = new DataView(taggedHash('tsp1/draw', query, u32le(device), u32le(index)).buffer)
  return {
    round: Number((view.getBigUint64(0, true) * BigInt(rounds)) >> 64n),
    tile: Number(view.getBigUint64(8, true) % BigInt(tiles)),
  }
}
