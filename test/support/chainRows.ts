import { ascii } from '../../src/core/bytes/bytes.ts'
import { fromHex, toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import type { ChainWrite, StoredBlock } from '../../src/ports/chainStore.ts'

/** Made-up rows of a chain: what a store keeps is not its business. */
export const idOf = (name: string): string => toHex(sha256(ascii(name)))
export const GENESIS = idOf('genesis')

export function bytesOf(id: string, length = 40): Uint8Array {
  const [bytes, hash] = [new Uint8Array(length), fromHex(id, 32)!]
  for (let at = 0; at < length; at += 32) bytes.set(hash.subarray(0, Math.min(32, length - at)), at)
  return bytes
}

const rowOf = (name: string, parent: string, height: number): ChainWrite['blocks'][number] => {
  const id = idOf(name)
  const win = height % 2 === 0 ? null : { arrival: 2n ** 300n + BigInt(height), randomness: bytesOf(id, 32) }
  const facts: StoredBlock = { id, parent, height, slot: 3 * height, author: idOf('author'), win }
  return { facts, bytes: bytesOf(id) }
}

export function branchOf(name: string, length: number, from = { id: GENESIS, height: 0 }): ChainWrite['blocks'] {
  let parent = from.id
  return Array.from({ length }, (_, i) => {
    const row = rowOf(`${name}${i}`, parent, from.height + 1 + i)
    parent = row.facts.id
    return row
  })
}
