import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type NvidiaEvidence, verifyNvidiaDevice } from '../../../src/core/attest/nvidiaDevice.ts'
import { Refused } from '../../../src/core/attest/refusals.ts'
import type { SignatureChecker } from '../../../src/core/attest/signatureChecker.ts'
import { checkVendorSignature } from '../../../src/drivers/system/checkVendorSignature.ts'

/** The same question is put to OpenSSL once: a flipped bit leaves most signatures of a chain as they were. */
export function rememberingChecker(ask: SignatureChecker = checkVendorSignature): SignatureChecker {
  const known = new Map<string, boolean | Promise<boolean>>()
  return (scheme, spki, message, signature) => {
    const key = createHash('sha256').update(spki).update(message).update(signature).digest('base64')
    const answer = known.get(key) ?? ask(scheme, spki, message, signature)
    if (known.size < 64) known.set(key, answer)
    return answer
  }
}

export const flipped = (bytes: Uint8Array, bit: number): Buffer => {
  const out = Buffer.from(bytes)
  out[bit >> 3]! ^= 1 << (bit & 7)
  return out
}

/** The flips that were accepted: bits of the report, then of the chain as it was sent. */
export async function acceptedFlips(
  evidence: NvidiaEvidence,
  bits: Iterable<number>,
  { nonce, atMs, roots }: { readonly nonce: Uint8Array; readonly atMs: number; readonly roots: readonly string[] },
): Promise<number[]> {
  const rules = { atMs, roots, check: rememberingChecker() }
  // That it is accepted as it is makes every refusal below one of the flip.
  await verifyNvidiaDevice(evidence, nonce, rules)
  const accepted: number[] = []
  const ofReport = 8 * evidence.report.length
  for (const bit of bits) {
    const changed =
      bit < ofReport
        ? { ...evidence, report: flipped(evidence.report, bit) }
        : { ...evidence, chain: flipped(evidence.chain, bit - ofReport) }
    try {
      await verifyNvidiaDevice(changed, nonce, rules)
      accepted.push(bit)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
    }
  }
  return accepted
}

export const bitsOf = ({ report, chain }: NvidiaEvidence): number => 8 * (report.length + chain.length)
