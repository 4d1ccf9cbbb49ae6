import { toHex } from '../bytes/hex.ts'

/** An entry of the table that a host hands to its guests: a GUID (16 bytes), offset and length (4 each, little-endian). */
const ENTRY_BYTES = 24
const MOST_ENTRIES = 32

/** The chain that a reader wants, in its order: certificate of the chip (VCEK), of its family (ASK), and the root (ARK). */
const CHAIN = [
  '63da758de6644564adc5f4b93be8accd',
  '4ab7b379bbac4fe4a02f05aef327c782',
  'c0b406a4a803495297433fb6014cd0ae',
] as const

/** The chain of AMD's processor out of its host's table; null where one of the three is not there, or lies outside. */
export function snpCertificates(table: Uint8Array): readonly Uint8Array[] | null {
  const view = new DataView(table.buffer, table.byteOffset, table.byteLength)
  const found = new Map<string, Uint8Array>()
  for (let at = 0; at + ENTRY_BYTES <= table.length && at < MOST_ENTRIES * ENTRY_BYTES; at += ENTRY_BYTES) {
    const guid = toHex(table.subarray(at, at + 16))
    if (/^0+$/.test(guid)) break
    const [from, length] = [view.getUint32(at + 16, true), view.getUint32(at + 20, true)]
    if (length === 0 || from + length > table.length) return null
    found.set(guid, table.slice(from, from + length))
  }
  const chain = CHAIN.flatMap((guid) => found.get(guid) ?? [])
  return chain.length === CHAIN.length ? chain : null
}
