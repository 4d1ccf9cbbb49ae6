import { expect, test } from 'vitest'
import { faultOf } from '../../../../test/suites/sshBoxSuite.ts'
import { testSigner } from '../../../../test/support/testSigner.ts'
import { toHex } from '../../../core/bytes/hex.ts'
import { decodeAsk, encodeAnswer, type LeaseAnswerMessage, type LeaseAsk } from '../../../core/lease/leaseMessages.ts'
import { parseSshPublicKey } from '../../../core/lease/sshPublicKey.ts'
import { sealToKey } from '../../system/sealToKey.ts'
import { systemClock } from '../../system/systemClock.ts'
import { systemRandomness } from '../../system/systemRandomness.ts'
import type { ProviderPeer } from './askProvider.ts'
import { connectLeased, type LeasedOptions } from './connectLeased.ts'

const [validator, provider] = [testSigner(1), testSigner(2)]
const [self, key] = [validator, provider].map(({ publicKey }) => toHex(publicKey)) as [string, string]
const options: LeasedOptions = {
  purpose: 'verify',
  seconds: 60,
  signer: validator,
  clock: systemClock,
  randomness: systemRandomness,
  ssh: { knownHostsFiles: [], ownKnownHostsFile: '/nowhere', onFirstUse: () => false, flavours: [], keep: false },
}

type Request = Extract<LeaseAsk, { kind: 'request' }>

/** A provider that answers a request for a lease as it likes, and gives everything back. */
function lying(answer: (ask: Request) => LeaseAnswerMessage): ProviderPeer {
  const said: Uint8Array[] = []
  const messages = (async function* () {
    for (;;) yield said.shift()!
  })()
  return {
    key,
    channel: {
      messages,
      close: () => {},
      send: async (bytes) => {
        const { message } = decodeAsk(bytes, key)
        if (message.kind === 'request') said.push(encodeAnswer(answer(message), provider))
        else if (message.kind === 'release')
          said.push(encodeAnswer({ kind: 'released', to: self, id: message.id }, provider))
      },
    },
  }
}

const asked = async (answer: (ask: Request) => LeaseAnswerMessage) =>
  await faultOf(connectLeased(lying(answer), options, new AbortController().signal))

test.each(['{}', 'no JSON', '{"user":"-oProxyCommand=x"}'])(
  'row 63: connection details that cannot be read (%s) are a fault of the provider',
  async (details) => {
    const { detail, blame } = await asked(({ id, sshKey }) => {
      const sealed = sealToKey(parseSshPublicKey(sshKey), new TextEncoder().encode(details))
      return { kind: 'granted', to: self, id, expiresAtMs: 0, sealed: Buffer.from(sealed).toString('base64') }
    })
    expect([detail.code, blame]).toEqual(['PROVIDER_NONSENSE', 'prover'])
  },
)

test('row 63: the code of a refusal is the word of the provider, and never that of a fault of ours', async () => {
  const { detail, blame, message } = await asked(({ id }) => ({
    kind: 'refused',
    to: self,
    id,
    code: 'KERNEL_FILE_MISSING',
    why: 'so that it is your own fault',
  }))
  expect([detail.code, blame]).toEqual(['LEASE_REFUSED', 'prover'])
  expect(message).toBe('the provider refuses: so that it is your own fault [KERNEL_FILE_MISSING]')
})
