import type { Signer } from '../../../core/bytes/ed25519.ts'
import { toHex } from '../../../core/bytes/hex.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Randomness } from '../../../ports/randomness.ts'
import { fault } from '../faults.ts'
import { askProvider, type ProviderLine } from './askProvider.ts'

const LIMIT_MS = 10_000

/**
 * A fresh random number, signed at once by the provider's key. It shows that the provider is up and says what it is doing;
 * it does not show that its cards work, which is what heavy tests are for.
 */
export async function askLiveness(
  line: ProviderLine,
  { signer, clock, randomness }: { readonly signer: Signer; readonly clock: Clock; readonly randomness: Randomness },
  signal: AbortSignal,
) {
  const nonce = toHex(randomness.bytes(32))
  const askedAtMs = clock.wallTime().getTime()
  const began = clock.monotonicUs()
  const answer = await askProvider(line, { kind: 'liveness', to: line.key, nonce, askedAtMs }, signer, signal, LIMIT_MS)
  if (answer.kind !== 'alive')
    throw fault('PROVIDER_NONSENSE', { what: 'the provider did not answer the liveness check' })
  return { state: answer.state, roundTripUs: clock.monotonicUs() - began }
}
