import type { LeaseDeps, LeaseService } from '../../src/apps/provider/leaseService.ts'
import { signerFrom } from '../../src/core/bytes/ed25519.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import type { Lease, LeaseBook } from '../../src/core/lease/leaseBook.ts'
import { decodeAnswer, encodeAsk, type LeaseAsk } from '../../src/core/lease/leaseMessages.ts'

export const provider = signerFrom(new Uint8Array(32).fill(1))
export const [ann, bob] = [signerFrom(new Uint8Array(32).fill(2)), signerFrom(new Uint8Array(32).fill(3))]
const to = toHex(provider.publicKey)
export const never = new AbortController().signal
export const sshKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH'

/** The rule of a provider that named nobody but Bob. */
export const isBob = (key: string) => key === toHex(bob.publicKey)

/** All that could go on by itself has. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A box in memory: what is on its disk and which keys it lets in. Any step can be made to crash. */
export function world(crashAt = Number.POSITIVE_INFINITY) {
  const state = {
    nowMs: 1_000_000,
    disk: { leases: [] } as LeaseBook,
    keys: new Map<string, string>(),
    opened: [] as string[],
    steps: 0,
  }
  const step = async (): Promise<void> => {
    if (state.steps++ >= crashAt) throw new Error('crash')
  }
  const deps = (limit = step): LeaseDeps => ({
    signer: provider,
    // Any time passes as soon as nothing else is left to be done.
    clock: { monotonicUs: () => 0, wallTime: () => new Date(state.nowMs), sleep: settled },
    journal: {
      read: async () => state.disk,
      write: async (book) => {
        await limit()
        state.disk = structuredClone(book)
      },
    },
    access: {
      open: async (lease: Lease) => {
        await limit()
        state.keys.set(lease.id, lease.sshKey)
        state.opened.push(lease.id)
        await limit()
        const where = { user: 'u', host: 'h', port: 22, hostKey: `SHA256:${'A'.repeat(43)}`, tunnel: '' }
        return { ...where, confinement: 'own account' as const }
      },
      close: async (id: string) => {
        await limit()
        state.keys.delete(id)
      },
    },
    seal: (_, plain) => plain,
    isAllowed: (_, purpose) => purpose === 'verify' || purpose === 'rent',
    isNamed: () => false,
    tell: () => {},
  })
  return { state, deps }
}

/** Signed at the time at which the clock of a world begins. */
export const encoded = (message: Record<string, unknown>, signer = ann) =>
  encodeAsk({ to, askedAtMs: 1_000_000, ...message } as LeaseAsk, signer)

export const ask = async (service: LeaseService, message: Record<string, unknown>, signer = ann) => {
  const bytes = await service.handle(encoded(message, signer), never)
  return bytes === null ? null : decodeAnswer(bytes, toHex(signer.publicKey)).message
}

export const request = (id: string, over: Record<string, unknown> = {}) => ({
  kind: 'request',
  id: id.repeat(32),
  purpose: 'verify',
  seconds: 60,
  sshKey,
  ...over,
})
