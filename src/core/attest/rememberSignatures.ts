import { u32le } from '../bytes/bytes.ts'
import { sha256 } from '../bytes/sha256.ts'
import type { SignatureChecker } from './signatureChecker.ts'

/** Nothing but `true` is: libraries answer in many ways (attack 426). */
const isYes = async (answer: boolean | Promise<boolean>): Promise<boolean> => (await answer) === true

/** Asks the same question once: the devices of a box share most of their certificates, golden values and answers. */
export function rememberSignatures(check: SignatureChecker): SignatureChecker {
  const known = new Map<string, Promise<boolean>>()
  return (scheme, spki, message, signature) => {
    const lengths = [spki, message].map(({ length }) => u32le(length))
    const key = `${scheme} ${sha256(...lengths, spki, message, signature).join()}`
    const answer = known.get(key) ?? isYes(check(scheme, spki, message, signature))
    known.set(key, answer)
    return answer
  }
}
