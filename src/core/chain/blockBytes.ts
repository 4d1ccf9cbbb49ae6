import {
  type Block,
  BodyType,
  type Commit,
  decodeExactly,
  type Header,
  HeaderType,
  MAX_BLOCK_TXS,
  MAX_TX_BYTES,
  type Tx,
} from './ssz.ts'

// Read by hand: the library reads, writes again and compares, which takes five times as long. A test holds both equal.

/** No block is larger, header and lists of offsets included: longer bytes are not looked at. */
const MAX_BLOCK_BYTES = (1 << 20) + 1_024
const HEADER_BYTES = HeaderType.fixedSize!
/** The body stands behind the header and its own offset. */
const BODY_AT = HEADER_BYTES + 4
/** Offsets of the list of transactions and of the commit. */
const BODY_OFFSETS = 8
/** Kind, account, nonce, fee, last slot, signature, and the offsets of payer, payload and payer's signature. */
const FIXED_TX_BYTES = 1 + 32 + 8 + 8 + 8 + 4 + 4 + 64 + 4

/** The block that these bytes spell, or null unless they are its only spelling. */
export function decodeBlock(given: Uint8Array): Block | null {
  if (given.length > MAX_BLOCK_BYTES || given.length < BODY_AT + BODY_OFFSETS) return null
  // A copy, so that nobody changes a value from outside: all parts of the block are views into it.
  const bytes = given.slice()
  const view = new DataView(bytes.buffer)
  if (view.getUint32(HEADER_BYTES, true) !== BODY_AT) return null
  const commitAt = BODY_AT + view.getUint32(BODY_AT + 4, true)
  if (view.getUint32(BODY_AT, true) !== BODY_OFFSETS || commitAt < BODY_AT + BODY_OFFSETS || commitAt > bytes.length)
    return null
  const txs = readTxs(bytes, view, BODY_AT + BODY_OFFSETS, commitAt)
  const commit =
    commitAt === bytes.length ? [] : decodeExactly<Commit[]>(BodyType.fields.commit, bytes.subarray(commitAt))
  return txs === null || commit === null ? null : { header: readHeader(bytes, view), body: { txs, commit } }
}

/** The header of a block in its bytes, which begin with it. */
export const decodeHeader = (block: Uint8Array): Header | null =>
  block.length < HEADER_BYTES ? null : readHeader(block, new DataView(block.buffer, block.byteOffset))

const readHeader = (bytes: Uint8Array, view: DataView): Header => ({
  parent: bytes.subarray(0, 32),
  slot: view.getBigUint64(32, true),
  author: bytes.subarray(40, 72),
  kind: bytes[72]!,
  vrfProof: bytes.subarray(73, 153),
  stateRoot: bytes.subarray(153, 185),
  bodyRoot: bytes.subarray(185, 217),
  sig: bytes.subarray(217, HEADER_BYTES),
})

/** A list: an offset of each transaction, then the transactions without a gap. */
function readTxs(bytes: Uint8Array, view: DataView, from: number, end: number): Tx[] | null {
  if (from === end) return []
  if (end - from < 4) return null
  const first = view.getUint32(from, true)
  const count = first / 4
  if (!Number.isInteger(count) || count === 0 || count > MAX_BLOCK_TXS || first > end - from) return null
  const txs: Tx[] = []
  for (let i = 0, at = from + first; i < count; i++) {
    const next = i === count - 1 ? end : from + view.getUint32(from + 4 * i + 4, true)
    const tx = next < at || next > end ? null : readTx(bytes, view, at, next)
    if (tx === null) return null
    txs.push(tx)
    at = next
  }
  return txs
}

function readTx(bytes: Uint8Array, view: DataView, at: number, end: number): Tx | null {
  if (end - at < FIXED_TX_BYTES || view.getUint32(at + 57, true) !== FIXED_TX_BYTES) return null
  const payerAt = at + FIXED_TX_BYTES
  const payloadAt = at + view.getUint32(at + 61, true)
  const payerSigAt = at + view.getUint32(at + 129, true)
  if (payloadAt < payerAt || payerSigAt < payloadAt || payerSigAt > end) return null
  const payer = listOf(bytes, payerAt, payloadAt, 32)
  const payerSig = listOf(bytes, payerSigAt, end, 64)
  if (payer === null || payerSig === null || payerSigAt - payloadAt > MAX_TX_BYTES) return null
  return {
    kind: bytes[at]!,
    account: bytes.subarray(at + 1, at + 33),
    nonce: view.getBigUint64(at + 33, true),
    fee: view.getBigUint64(at + 41, true),
    lastSlot: view.getBigUint64(at + 49, true),
    payer,
    payload: bytes.subarray(payloadAt, payerSigAt),
    sig: bytes.subarray(at + 65, at + 129),
    payerSig,
  }
}

/** A list of one entry or none. */
function listOf(bytes: Uint8Array, from: number, end: number, size: number): Uint8Array[] | null {
  if (from === end) return []
  return end - from === size ? [bytes.subarray(from, end)] : null
}
