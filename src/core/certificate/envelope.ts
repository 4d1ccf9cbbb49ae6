import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { ascii, concatBytes } from '../bytes/bytes.ts'
import { type CheckSignature, checkSignature, type Signer } from '../bytes/ed25519.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import type { Stated } from '../work/evidenceBehind.ts'
import type { CertificateProblem } from './problems.ts'
import { type Slices, workAtOnce, workInSlices } from './slices.ts'

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

/** A run of 32 devices with every part stays below this; anything larger is not read. */
export const MAX_CERTIFICATE_BYTES = 96 * 2 ** 20

export const tooLarge = (got: number): CertificateProblem => ({
  code: 'TOO_LARGE',
  got,
  expected: MAX_CERTIFICATE_BYTES,
})

/** C1: so many may sign a certificate of version 2, in the order of their keys. */
const MOST_SIGNATURES = 8

interface Signature {
  readonly keyid: string
  readonly sig: string
}

/** The one spelling of an envelope: DSSE as JSON without spaces, signatures in the order of their keys, a line end. */
const spell = (letters: string, signatures: readonly Signature[]): string =>
  `${HEAD}${letters}","signatures":${JSON.stringify(signatures)}}\n`

const HEAD = `{"payloadType":"${PAYLOAD_TYPE}","payload":"`
const ONE = '\\{"keyid":"[0-9a-f]{64}","sig":"[A-Za-z0-9+/]{86}=="\\}'
const END = new RegExp(`^","signatures":(\\[${ONE}(?:,${ONE}){0,${MOST_SIGNATURES - 1}}\\])\\}\\n$`)
const SHORTEST_END = '","signatures":[{"keyid":"","sig":""}]}\n'.length + 64 + 88

const LINE_END = '\n'.charCodeAt(0)

/** The file with the line end that it lacks; null where it has one, or is no envelope up to there. */
export function mendLineEnd(file: Uint8Array): Uint8Array | null {
  const isCut = file.at(-1) === '}'.charCodeAt(0) && file.length < MAX_CERTIFICATE_BYTES
  // Evidence behind a line may end with any byte.
  const isOurs = isCut && !file.includes(LINE_END) && ascii(HEAD).every((letter, i) => file[i] === letter)
  return isOurs ? concatBytes(file, ascii('\n')) : null
}

/** A signed file: one line that is the envelope, and what stands behind it as bytes. */
export interface SignedFile {
  readonly line: string
  readonly evidence: Uint8Array
}

/** One byte, one letter: an envelope is plain ASCII, and nothing else passes for it. */
export function takeApart(file: Uint8Array): SignedFile {
  const end = file.indexOf(LINE_END) + 1 || file.length
  return { line: new TextDecoder('latin1').decode(file.subarray(0, end)), evidence: file.subarray(end) }
}

/** W4.4.2. A receipt as a file: what it states, signed, and its evidence behind that. */
export const sealReceipt = ({ statement, evidence }: Stated<unknown>, signer: Signer): Uint8Array =>
  concatBytes(ascii(sealEnvelope(new TextEncoder().encode(JSON.stringify(statement)), signer)), evidence)

/** DSSE's pre-authentication encoding: type and payload with their lengths, so that neither can lend bytes to the other. */
function signedBytes(pieces: readonly Uint8Array[]): Uint8Array {
  return concatBytes(ascii(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${lengthOf(pieces)} `), ...pieces)
}

const lengthOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, { length }) => sum + length, 0)

const signed = (message: Uint8Array, signer: Signer): Signature => ({
  keyid: toHex(signer.publicKey),
  sig: toBase64(signer.sign(message)),
})

const byKey = (a: Signature, b: Signature): number => (a.keyid < b.keyid ? -1 : 1)

export function sealEnvelope(payload: Uint8Array, ...signers: readonly Signer[]): string {
  const { message, letters } = workAtOnce(spelling([payload]))
  return spell(letters, signers.map((signer) => signed(message, signer)).sort(byKey))
}

/** The same for a long payload, in pieces: whoever has something else to do does it in the pauses. */
export async function sealInSlices(
  payload: readonly Uint8Array[],
  signer: Signer,
  pause: () => Promise<void>,
): Promise<string> {
  const { message, letters } = await workInSlices(spelling(payload), pause)
  const sig = await (signer.signAside ?? signer.sign)(message)
  return spell(letters, [{ keyid: toHex(signer.publicKey), sig: toBase64(sig) }])
}

/** So many bytes are spelled at a time; a multiple of three, so that their letters can be joined. */
const SLICE_BYTES = 3 * 2 ** 18

function* spelling(pieces: readonly Uint8Array[]): Slices<{ readonly message: Uint8Array; readonly letters: string }> {
  const message = signedBytes(pieces)
  const from = message.length - lengthOf(pieces)
  let letters = ''
  for (let at = from; at < message.length; at += SLICE_BYTES) {
    yield
    letters += toBase64(message.subarray(at, at + SLICE_BYTES))
  }
  yield
  return { message, letters }
}

/** C1: the same file with one signature more, by another validator that watched the run. Null if there are eight already. */
export function counterSign(text: string, signer: Signer): string | null {
  const opened = openEnvelope(text)
  if ('code' in opened) return null
  const { payload, signatures } = opened
  if (signatures.length === MOST_SIGNATURES) return null
  if (signatures.some(({ keyid }) => keyid === toHex(signer.publicKey))) return text
  return spell(toBase64(payload), [...signatures, signed(signedBytes([payload]), signer)].sort(byKey))
}

export interface OpenedEnvelope {
  readonly payload: Uint8Array
  readonly signatures: readonly Signature[]
  /** Whose signatures fit, ascending. */
  readonly signerKeys: readonly Uint8Array[]
}

/**
 * Takes an envelope apart by its fixed spelling: a changed byte anywhere is noticed, and nested or endless input costs
 * nothing. A JSON parser sees no more than a list of signatures that is already known to be one.
 */
export function openEnvelope(
  text: string,
  check: CheckSignature = checkSignature,
): OpenedEnvelope | CertificateProblem {
  if (text.length === 0) return { code: 'EMPTY' }
  if (text.length > MAX_CERTIFICATE_BYTES) return tooLarge(text.length)
  if (!text.startsWith(HEAD)) return { code: 'NOT_A_CERTIFICATE' }
  const payloadEnd = text.indexOf('"', HEAD.length)
  if (payloadEnd < 0 || text.length < payloadEnd + SHORTEST_END) return { code: 'TRUNCATED' }
  const payload = fromBase64(text.slice(HEAD.length, payloadEnd))
  const list = END.exec(text.slice(payloadEnd))?.[1]
  if (!payload || list === undefined) return { code: 'NOT_CANONICAL' }
  const signatures: readonly Signature[] = JSON.parse(list)
  const bytes = signatures.map(({ sig }) => fromBase64(sig))
  const ascend = signatures.every(({ keyid }, i) => i === 0 || signatures[i - 1]!.keyid < keyid)
  if (!ascend || bytes.includes(null)) return { code: 'NOT_CANONICAL' }
  const message = signedBytes([payload])
  const signerKeys = signatures.map(({ keyid }) => fromHex(keyid, 32)!)
  // A promise is no yes, whoever checks (attack 426).
  const fit = signerKeys.every((key, i) => check(bytes[i]!, message, key) === true)
  return fit ? { payload, signatures, signerKeys } : { code: 'BAD_SIGNATURE' }
}
