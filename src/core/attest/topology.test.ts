import { Buffer } from 'node:buffer'
import { describe, expect, test } from 'vitest'
import { makeHardware } from '../../../test/support/attest/attestRun.ts'
import { rememberingChecker } from '../../../test/support/attest/flips.ts'
import { refusalOf } from '../../../test/support/attest/refusalOf.ts'
import { type ReportWishes, TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { toMillis } from '../units/instants.ts'
import type { Bundle } from './bundle.ts'
import { type BundleRules, verifyBundle } from './checkBundle.ts'

describe('GPUs and their switches', () => {
  const atMs = toMillis('2026-11-15T12:00:00Z')
  const nonce = Buffer.alloc(32, 0xab)
  const { vendor, policy } = makeHardware(atMs)
  const rules: BundleRules = { policy, check: rememberingChecker(), atMs, nonce, proverKey: new Uint8Array(0) }
  const [gpu, second] = [new TestDevice(vendor), new TestDevice(vendor, { pdi: '1122334455667788' })] as const
  const evidenceOf = (device: TestDevice, wishes: ReportWishes) => ({ ...device.evidence(nonce, wishes), nonce })
  const reversed = (pdi: string) => Buffer.from(pdi, 'hex').reverse()
  const boards = ['5000000000000001', '5000000000000002'].map((pdi) => new TestDevice(vendor, { arch: 'LS10', pdi }))
  const cards = [gpu, second]
  const links = (named = boards) => ({
    21: Buffer.of(0xaa),
    22: Buffer.concat([...named.map(({ pdi }) => reversed(pdi)), Buffer.alloc(8 * (18 - named.length))]),
  })
  const map = (named: readonly TestDevice[]) => ({
    26: Buffer.concat([...named.map(({ pdi }) => Buffer.from(pdi, 'hex')), Buffer.alloc(128 - 8 * named.length)]),
  })
  const set = (...devices: Bundle['devices']): Bundle => ({ devices, rims: [], ocsp: [], cpu: null })
  const seen = cards.map((card) => evidenceOf(card, { fields: links() }))
  const around = boards.map((board) => evidenceOf(board, { fields: map(cards) }))

  test('that name each other are accepted', async () => {
    expect(await verifyBundle(set(...seen, ...around), rules)).toMatchObject({ tier: 'B' })
  })

  test('without any of their switches leave them open', async () => {
    expect((await verifyBundle(set(...seen), rules)).doubts).toContainEqual({ code: 'NO_SWITCHES' })
  })

  test.each<[string, Bundle]>([
    ['a switch is missing', set(...seen, around[0]!)],
    ['a GPU is missing', set(seen[0]!, ...around)],
    ['a GPU names another switch', set(evidenceOf(gpu, { fields: links([boards[0]!, gpu]) }), seen[1]!, ...around)],
    ['a switch names one GPU less', set(...seen, around[0]!, evidenceOf(boards[1]!, { fields: map([gpu]) }))],
    ['there are only switches', set(...around)],
  ])('are refused when %s', async (_, bundle) => {
    expect(await refusalOf(verifyBundle(bundle, rules))).toMatchObject({ code: 'TOPOLOGY_DIFFERS' })
  })
})
