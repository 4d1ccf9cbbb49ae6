import { expect, test } from 'vitest'
import { shippedCatalogue } from '../../../../test/sim/shippedCatalogue.ts'
import { testRules } from '../../../../test/support/fleetKit.ts'
import { ownMachine } from '../../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { verifyInProcess } from '../../../../test/support/verifyInProcess.ts'
import type { JobKind } from '../../../core/schedule/boxState.ts'
import { FULL_SCORE } from '../../../core/score/scoreConfig.ts'
import { fault } from '../../../drivers/gpu/cuda/faults.ts'
import type { OnRoot, SeriesTask } from '../../../ports/device.ts'
import type { BoxRecord, Finish, Store, TakenJob } from '../../../ports/store.ts'
import type { BoxReport } from '../verifyBox.ts'
import { finishOf } from './finishOf.ts'
import type { FleetRules } from './fleet.ts'
import { resultOfReport } from './outcomeOf.ts'

/** Says that it is lost as soon as it has seen how the run goes; what it is made of nobody knows. */
class Phantom extends ReferenceDevice {
  override async runSeries(_: SeriesTask, __: OnRoot): Promise<void> {
    throw fault('GPU_LOST', { what: 'gone', mend: 'Believe it.' })
  }
}

/** How a job ends that brought this report, of a new box that is leased or not. */
async function finished(
  report: BoxReport,
  kind: JobKind,
  allocated: boolean,
  sharing: readonly string[] | Store['takeChips'] = [],
  rules: Promise<FleetRules> = testRules(),
  taken: Partial<TakenJob> = {},
  rentedNow = allocated,
): Promise<Finish> {
  const counts = { score: 0, failuresInRow: 0, busyInRow: 0, missed: 0, stalls: 0 }
  const box = { allocated, inventory: null, status: 'new', ...counts } as Partial<BoxRecord> as BoxRecord
  const place = { id: 1, boxId: 'a', round: 1, kind, reason: 'round', tries: 0, box, window: 1, ...taken }
  const job = place as Partial<TakenJob> as TakenJob
  const takeChips = typeof sharing === 'function' ? sharing : async () => sharing
  const store = { boxesWithCards: async () => [], takeChips, box: async () => ({ ...box, allocated: rentedNow }) }
  const context = { store, rules: await rules, isAlone: true }
  return finishOf(job, resultOfReport(report), report, context)
}

/** What is not attested is worth half, and full marks are within reach of a stand-in. */
async function paidByTier() {
  const rules = await testRules()
  const reference = { ...rules.score.reference, rates: { int8: 1, fp8: 1, bf16: 1, fp16: 1, fp32: 1 } }
  return { ...rules, score: { ...rules.score, reference, tiers: { A: 1, B: 1, C: 0.5 } } }
}

test('attack 129: a chip that attested for another box in the round is marked, and the run is paid as not attested', async () => {
  const devices = [new ReferenceDevice({ facts: { class: 'gpu', backEnd: 'cuda', name: 'NVIDIA H200' } })]
  const plain = await verifyInProcess({ program: ownMachine({ devices }), catalogue: await shippedCatalogue() })
  const report: BoxReport = { ...plain, attested: { ...plain.attested, tier: 'B', chips: ['a000000000000001'] } }
  const tierOf = ({ box }: Finish) => box.terms.find(({ name }) => name === 'tier')?.got ?? 1
  const alone = await finished(report, 'full', false, [], paidByTier())
  expect([tierOf(alone), alone.result.marks]).toEqual([1, []])
  // Attack 132: without golden values or answers about revocation nothing speaks against it, and nothing for it.
  const attested = { ...report.attested, doubts: [{ code: 'NO_GOLDEN_VALUES' as const }] }
  expect(tierOf(await finished({ ...report, attested }, 'full', false, [], paidByTier()))).toBe(0.5)
  const second = await finished(report, 'full', false, ['b'], paidByTier())
  expect([tierOf(second), second.result.marks]).toEqual([0.5, [{ what: 'shared chip', before: 'b', after: 'a' }]])
})

test('attack 398: a chip is noted for a run that earns with it, in its window alone where there are windows', async () => {
  const plain = await verifyInProcess({
    program: ownMachine({ devices: [new ReferenceDevice()] }),
    catalogue: await shippedCatalogue(),
  })
  const report: BoxReport = { ...plain, attested: { ...plain.attested, tier: 'B', chips: ['c'] } }
  const doubts = [{ code: 'NO_GOLDEN_VALUES' as const }]
  const noted = async (told: BoxReport, kind: JobKind, rules: Partial<FleetRules>, taken: Partial<TakenJob> = {}) => {
    const asked: unknown[] = []
    const takeChips: Store['takeChips'] = async ({ keptRounds, isNoted }) => {
      asked.push([keptRounds, isNoted])
      return []
    }
    await finished(told, kind, false, takeChips, testRules(rules), taken)
    return asked
  }
  const windows = { cohortSize: 8 }
  expect(await noted(report, 'full', windows)).toEqual([[0, true]])
  expect(await noted(report, 'full', windows, { window: null })).toEqual([[0, false]])
  expect(await noted({ ...report, attested: { ...report.attested, doubts } }, 'full', windows)).toEqual([[0, false]])
  expect(await noted(report, 'light', windows)).toEqual([[0, false]])
  expect(await noted(report, 'full', { cohortSize: 1 }, { window: null })).toEqual([[8, true]])
  const rejected = { ...report, judgement: { ...report.judgement, outcome: 'rejected' as const } }
  expect(await noted(rejected, 'full', windows)).toEqual([[0, false]])
})

test('attack 64: every device that was lost in a run stands in the history of its box, and a light look asks for more', async () => {
  const devices = [new ReferenceDevice(), new Phantom(), new Phantom()]
  const report = await verifyInProcess({ program: ownMachine({ devices }), catalogue: await shippedCatalogue() })
  expect(report.judgement.reason).toBeNull()
  const { result, followUps } = await finished(report, 'light', false)
  expect(result.marks).toEqual([
    { what: 'lost device', before: 'GPU_LOST', after: '1 left' },
    { what: 'lost device', before: 'GPU_LOST', after: '1 left' },
  ])
  expect(followUps).toMatchObject([{ kind: 'full', reason: 'changed' }])
  // Attack 325: the store keeps it for the end of a rent.
  expect((await finished(report, 'light', true)).followUps).toEqual(followUps)
})

test('attacks 73 and 74: a box with no GPU that says everything of itself scores next to nothing, with no bonus for it', async () => {
  const host = {
    cpuWhetstoneMips: 1e9,
    memoryLimitBytes: 1e15,
    ramBytesPerSec: 1e15,
    diskFreeBytes: 1e16,
    diskWriteBytesPerSec: 1e15,
    registered: true,
    allocated: true,
  }
  const devices = [new ReferenceDevice({ facts: { class: 'gpu', backEnd: 'cuda', name: 'NVIDIA H200' } })]
  const program = ownMachine({ devices, inventory: { host } })
  const report = await verifyInProcess({ program, catalogue: await shippedCatalogue() })
  const { box } = await finished(report, 'full', true)
  expect(box).toMatchObject({ status: 'verified', scored: true })
  expect(box.score).toBeLessThan(FULL_SCORE / 100)
  // It says that it is leased; and whoever tells the validator so raises no score (attack 303).
  const bonuses = ({ terms }: Finish['box']) => terms.map(({ name }) => name).filter((name) => /^bonus/.test(name))
  expect(bonuses(box)).toEqual(['bonus.registration'])
})

test('attack 432: a light look of a rented box that finds its cards taken, at any moment, says nothing against it', async () => {
  const devices = [new ReferenceDevice({ facts: { class: 'gpu', backEnd: 'cuda', name: 'NVIDIA H200' } })]
  const report = await verifyInProcess({ program: ownMachine({ devices }), catalogue: await shippedCatalogue() })
  const reason = { code: 'REFUSED', part: 0, expected: 'roots', got: 'OUT_OF_MEMORY' } as const
  const gaveUp: BoxReport = { ...report, judgement: { ...report.judgement, outcome: 'rejected', reason } }
  expect(await finished(gaveUp, 'light', true)).toMatchObject({
    result: { outcome: 'busy' },
    box: { status: 'new', failed: false, busyInRow: 0 },
  })
  for (const [kind, rented] of [
    ['light', false],
    ['full', true],
  ] as const)
    expect(await finished(gaveUp, kind, rented)).toMatchObject({
      result: { outcome: 'rejected' },
      box: { failed: true },
    })
})

test('attack 442: nor does one of a box that was rented while the look was under way; nothing else is made of that', async () => {
  const devices = [new ReferenceDevice({ facts: { class: 'gpu', backEnd: 'cuda', name: 'NVIDIA H200' } })]
  const report = await verifyInProcess({ program: ownMachine({ devices }), catalogue: await shippedCatalogue() })
  const reason = { code: 'REFUSED', part: 0, expected: 'roots', got: 'OUT_OF_MEMORY' } as const
  const gaveUp: BoxReport = { ...report, judgement: { ...report.judgement, outcome: 'rejected', reason } }
  const lookedAt = (one: BoxReport, kind: JobKind, before: boolean, after: boolean) =>
    finished(one, kind, before, [], testRules(), {}, after)
  for (const [before, after] of [
    [false, true],
    [true, false],
  ] as const)
    expect(await lookedAt(gaveUp, 'light', before, after)).toMatchObject({
      result: { outcome: 'busy' },
      box: { status: 'new', score: 0, scored: false, failed: false, busyInRow: 0 },
    })
  expect(await lookedAt(gaveUp, 'full', false, true)).toMatchObject({ box: { failed: true } })
  for (const kind of ['light', 'full'] as const) {
    const plain = await lookedAt(report, kind, false, false)
    expect(await lookedAt(report, kind, false, true)).toEqual(plain)
  }
  const late = { ...reason, code: 'LATE_ROOT' } as never
  const wrong: BoxReport = { ...report, judgement: { ...report.judgement, outcome: 'rejected', reason: late } }
  expect(await lookedAt(wrong, 'light', false, true)).toMatchObject({ box: { failed: true } })
})

test('attack 242: a run outside the window of its round earns nothing, unless the fleet has none', async () => {
  const devices = [new ReferenceDevice({ facts: { class: 'gpu', backEnd: 'cuda', name: 'NVIDIA H200' } })]
  const report = await verifyInProcess({ program: ownMachine({ devices }), catalogue: await shippedCatalogue() })
  const ended = (window: number | null, cohortSize: number) =>
    finished(report, 'full', false, [], testRules({ cohortSize }), { window })
  expect(await ended(3, 8)).toMatchObject({ job: { window: 3 }, box: { scored: true } })
  // Attack 324: what it showed goes to the store, whatever the box held when the job was taken.
  const { score } = (await ended(3, 8)).box
  expect(await ended(null, 8)).toMatchObject({ box: { scored: false, score: 0, atMost: score } })
  expect(await ended(3, 1)).toMatchObject({ job: { window: null }, box: { scored: true } })
})

test('attack 377: a rejected run has no answer to its claim, which may be "matches"', async () => {
  const judgement = { outcome: 'accepted', reason: null, claim: { verdict: 'matches' }, devices: [], count: {} }
  const report = { judgement, runId: new Uint8Array(16), proverKey: new Uint8Array(32) } as never as BoxReport
  const rejected = { ...report, judgement: { ...report.judgement, outcome: 'rejected' as const } }
  expect([report, rejected].map((one) => resultOfReport(one).claimVerdict)).toEqual(['matches', null])
})
