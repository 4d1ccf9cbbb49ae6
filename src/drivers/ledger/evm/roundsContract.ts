import { ascii, concatBytes } from '../../../core/bytes/bytes.ts'
import { fromHex } from '../../../core/bytes/hex.ts'
import type { ScoreProof } from '../../../core/ledger/roundRecord.ts'
import { bytesOf, hexOf } from './evmAccount.ts'

/** Calls of contracts/TouchstoneRounds.sol, as its built file names them: a test compares these bytes with another library's. */
const PUBLISH = '0xc9fe8e82'
const ROOT_OF = '0x5c259bc5'
const IS_PUBLISHED = '0x0d6b1207'

/** One word of 32 bytes. */
const word = (value: number | bigint): Uint8Array => fromHex(value.toString(16).padStart(64, '0'), 32)!
const hash = (hex: string | null): Uint8Array => fromHex(hex ?? '00'.repeat(32), 32)!
const account = (address: string): Uint8Array => word(BigInt(address))

export const publishCall = (round: number, root: string): string =>
  hexOf(concatBytes(bytesOf(PUBLISH), word(round), hash(root)))

export const rootOfCall = (publisher: string, round: number): string =>
  hexOf(concatBytes(bytesOf(ROOT_OF), account(publisher), word(round)))

/** Fields of no fixed length stand behind the others, which have their distance. */
export function isPublishedCall(publisher: string, { validator, round, entry, place, path }: ScoreProof): string {
  const box = ascii(entry.box)
  const padded = new Uint8Array(32 * Math.ceil(box.length / 32))
  padded.set(box)
  const score = concatBytes(
    hash(validator),
    word(round),
    word(5 * 32),
    word(entry.score),
    hash(entry.certificate),
    word(box.length),
    padded,
  )
  const head = concatBytes(account(publisher), word(4 * 32), word(place), word(4 * 32 + score.length))
  return hexOf(concatBytes(bytesOf(IS_PUBLISHED), head, score, word(path.length), ...path.map(hash)))
}
