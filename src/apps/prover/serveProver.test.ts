import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BytePipe } from '../../../test/support/bytePipe.ts'
import { ReferenceDevice } from '../../../test/support/openReferenceDevice.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { checkSignature } from '../../core/bytes/ed25519.ts'
import { type Challenge, encodeChallenge, readyMessage } from '../../core/proof/challenge.ts'
import { nonceHash } from '../../core/proof/seeds.ts'
import { encodeFrame, FrameDecoder } from '../../core/wire/frames.ts'
import type { Answer, Order } from '../../core/wire/messages.ts'
import { serveProver } from './serveProver.ts'

const signer = testSigner(7)
const nonce = (p: number) => new Uint8Array(32).fill(10 + p)

const challengeFor = (proverKey: Uint8Array, deviceCount = 1): Challenge => ({
  version: 2,
  runId: new Uint8Array(16),
  validatorKey: testSigner(1).publicKey,
  proverKey,
  deviceCount,
  parts: [0, 1].map((p) => ({
    kind: p === 0 ? 'rounds' : 'memory',
    precision: 'int8',
    m: 64,
    n: 64,
    k: 32,
    rounds: 2,
    openings: 2,
    mask: 2 ** deviceCount - 1,
    limitMs: 1000,
    openLimitMs: 1000,
    kept: Array(deviceCount).fill(p === 0 ? 0 : 2),
    nonceHash: nonceHash(nonce(p)),
  })),
})

const S = new Uint8Array(32).fill(3)
const challenge: Order = { type: 'challenge', bytes: encodeChallenge(challengeFor(signer.publicKey)) }
const WHOLE: readonly Order[] = [
  { type: 'hello' },
  { type: 'list' },
  { type: 'ping', token: new Uint8Array(8) },
  challenge,
  { type: 'start', part: 0, s: S },
  { type: 'reveal', part: 0, nonce: nonce(0) },
  { type: 'start', part: 1, s: S },
  { type: 'passes', part: 1, z: S },
  { type: 'reveal', part: 1, nonce: nonce(1) },
  { type: 'finish' },
]

/** What the prover answers to orders, one after the other: each waits for the answers to the one before. */
async function answersTo(orders: readonly (Order | Uint8Array)[]): Promise<{ answers: Answer[]; device: Spy }> {
  const input = new BytePipe()
  const device = new Spy()
  const decoder = new FrameDecoder([
    'welcome',
    'inventory',
    'pong',
    'ready',
    'root',
    'opened',
    'result',
    'telemetry',
    'fault',
  ])
  const answers: Answer[] = []
  const write = async (bytes: Uint8Array) => {
    for (const answer of decoder.push(bytes)) answers.push(answer as Answer)
  }
  const inventory = { program: 'test', devices: [{ ...device.facts, precisions: [] }], host: {} }
  const open = async () => {
    device.opened++
    return { devices: [device], inventory }
  }
  const serving = serveProver({ signer, open, input, write }, new AbortController().signal)
  for (const order of orders) {
    await input.write(order instanceof Uint8Array ? order : encodeFrame(order))
    await settled()
  }
  input.end()
  await serving
  expect(decoder.partial).toBe(false)
  return { answers, device }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

class Spy extends ReferenceDevice {
  opened = 0
  released = 0
  override async release(): Promise<void> {
    this.released++
    await super.release()
  }
}

const types = (answers: readonly Answer[]) => answers.map(({ type }) => type).join(' ')
const faultOf = (answers: readonly Answer[]) =>
  answers.flatMap((answer) => (answer.type === 'fault' ? [answer.code] : [])).join(' ')

describe('the prover', () => {
  test('answers a whole run in order, signs it, and gives its memory back', async () => {
    const { answers, device } = await answersTo(WHOLE)
    expect(types(answers)).toBe('welcome inventory pong ready root root opened root root root root opened result')
    const ready = answers.find((answer) => answer.type === 'ready')!
    expect(checkSignature(ready.signature, readyMessage(challengeFor(signer.publicKey)), signer.publicKey)).toBe(true)
    expect(device.released).toBeGreaterThan(0)
  })

  test('attack 33: a challenge for another key is refused before any work', async () => {
    const foreign = { type: 'challenge', bytes: encodeChallenge(challengeFor(testSigner(9).publicKey)) } as const
    const { answers } = await answersTo([foreign, ...WHOLE.slice(4)])
    expect(types(answers)).toBe('fault')
    expect(faultOf(answers)).toBe('NOT_MY_KEY')
  })

  test('attack 470: no device is opened before the validator asks for them, and then once', async () => {
    const told = await answersTo([WHOLE[0]!, { type: 'ping', token: new Uint8Array(8) }])
    expect([types(told.answers), told.device.opened]).toEqual(['welcome pong', 0])
    const early = await answersTo([WHOLE[0]!, challenge])
    expect([faultOf(early.answers), early.device.opened]).toEqual(['WRONG_ORDER', 0])
    const asked = await answersTo([WHOLE[0]!, { type: 'list' }, WHOLE[0]!, { type: 'list' }])
    expect([types(asked.answers), asked.device.opened]).toEqual(['welcome inventory welcome inventory', 1])
  })

  test('a nonce that was not promised opens nothing', async () => {
    const { answers } = await answersTo([...WHOLE.slice(0, 5), { type: 'reveal', part: 0, nonce: nonce(5) }])
    expect(faultOf(answers)).toBe('WRONG_ORDER')
    expect(types(answers)).not.toContain('opened')
  })

  test('more devices than there are is refused', async () => {
    const bytes = encodeChallenge(challengeFor(signer.publicKey, 2))
    expect(faultOf((await answersTo([{ type: 'list' }, { type: 'challenge', bytes }])).answers)).toBe('WRONG_ORDER')
  })

  test('property: orders in any other order end in one fault, and no nonce is ever answered before the roots', async () => {
    const order = fc.constantFrom(...WHOLE)
    await fc.assert(
      fc.asyncProperty(fc.array(order, { maxLength: 9 }), async (orders) => {
        const { answers, device } = await answersTo(orders)
        const faults = answers.filter(({ type }) => type === 'fault').length
        expect(faults).toBeLessThanOrEqual(1)
        if (faults === 1) expect(answers.at(-1)!.type).toBe('fault')
        expect(device.opened).toBe(answers.some(({ type }) => type === 'inventory') ? 1 : 0)
        expect(device.released).toBeGreaterThanOrEqual(device.opened)
        for (const [at, answer] of answers.entries())
          if (answer.type === 'opened') {
            const before = answers.slice(0, at)
            const roots = before.slice(before.findLastIndex(({ type }) => type === 'ready' || type === 'opened') + 1)
            expect(roots.filter(({ type }) => type === 'root').length).toBe(answer.part === 0 ? 2 : 4)
          }
      }),
      { numRuns: 60 },
    )
  })

  test('property: noise from a validator ends in a fault without a word of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 5, maxLength: 60 }), async (noise) => {
        noise[4] = 0x1b
        const { answers } = await answersTo([noise])
        expect(types(answers)).toMatch(/^(fault)?$/)
      }),
      { numRuns: 30 },
    )
  })
})
