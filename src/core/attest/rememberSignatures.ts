import { u32le } from '../bytes/bytes.ts'
import { sha256 } from '../bytes/sha256.ts'
import type { SignatureChecker } from './signatureChecker.ts'

/** Asks the same question once: the devices of a box share most of their certificates, golden values and answers. */
export function rememberSignatures(check: SignatureChecker): SignatureChecker {
  const known = new Map<string, boolean | Promise<boolean>>()
  return (scheme, spki, message, signature) => {
    const lengths = [spki, message].map(({ length }) => u32le(length))
    const key = `${scheme} ${sha256(...lengths, spki, message, signature).join()}`
    const answer = known.get(key) ?? check(scheme, spki, message, signature)
    known.set(key, answer)
    return answer
  }
}
