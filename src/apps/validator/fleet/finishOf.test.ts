import { expect, test } from 'vitest'
import { shippedCatalogue } from '../../../../test/sim/shippedCatalogue.ts'
import { testRules } from '../../../../test/support/fleetKit.ts'
import { honestProgram } from '../../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../../test/support/openReferenceDevice.ts'
import { verifyInProcess } from '../../../../test/support/verifyInProcess.ts'
import type { JobKind } from '../../../core/schedule/boxState.ts'
import { FULL_SCORE } from '../../../core/score/scoreConfig.ts'
import { fault } from '../../../drivers/gpu/cuda/faults.ts'
import type { OnRoot, SeriesTask } from '../../../ports/device.ts'
import type { BoxRecord, Finish, TakenJob } from '../../../ports/store.ts'
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
  sharing: readonly string[] = [],
  rules: Promise<FleetRules> = testRules(),
  cohort: Parameters<typeof finishOf>[3]['cohort'] = { mates: [], together: [], counted: async () => [] },
  beside: BoxRecord['beside'] = {},
): Promise<Finish> {
  const counts = { score: 0, failuresInRow: 0, busyInRow: 0, missed: 0, stalls: 0 }
  const box = {
    allocated,
    inventory: null,
    status: 'new',
    owes: [],
    beside,
    ...counts,
  } as Partial<BoxRecord> as BoxRecord
  const job = {
    id: 1,
    boxId: 'a',
    round: 1,
    kind,
    tries: 0,
    box,
    owed: [],
    away: [],
    standing: [],
  } as Partial<TakenJob> as TakenJob
  const store = { boxesWithCards: async () => [], fleet: async () => [], takeChips: async () => sharing }
  const context = { store, rules: await rules, cohort }
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
  const plain = await verifyInProcess({ program: honestProgram({ devices }), catalogue: await shippedCatalogue() })
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

test('attack 64: every device that was lost in a run stands in the history of its box, and a light look asks for more', async () => {
  const devices = [new ReferenceDevice(), new Phantom(), new Phantom()]
  const report = await verifyInProcess({ program: honestProgram({ devices }), catalogue: await shippedCatalogue() })
  expect(report.judgement.reason).toBeNull()
  const { result, followUps } = await finished(report, 'light', false)
  expect(result.marks).toEqual([
    { what: 'lost device', before: 'GPU_LOST', after: '1 left' },
    { what: 'lost device', before: 'GPU_LOST', after: '1 left' },
  ])
  expect(followUps).toMatchObject([{ kind: 'full', reason: 'changed' }])
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
  const program = honestProgram({ devices, inventory: { host } })
  const report = await verifyInProcess({ program, catalogue: await shippedCatalogue() })
  const { box } = await finished(report, 'full', true)
  expect(box).toMatchObject({ status: 'verified', scored: true })
  expect(box.score).toBeLessThan(FULL_SCORE / 100)
  // It says that it is leased; what counts is what the validator was told.
  const bonuses = ({ terms }: Finish['box']) => terms.map(({ name }) => name).filter((name) => /^bonus/.test(name))
  expect(bonuses(box)).toEqual(['bonus.registration', 'bonus.allocation'])
  expect(bonuses((await finished(report, 'full', false)).box)).toEqual(['bonus.registration'])
})

test('attack 222: who shows a little more than the last time beside another box hears whether that one counts', async () => {
  const devices = [new ReferenceDevice({ facts: { class: 'gpu', backEnd: 'cuda', name: 'NVIDIA H200' } })]
  const report = await verifyInProcess({ program: honestProgram({ devices }), catalogue: await shippedCatalogue() })
  const remembered = async (before: number, counted: readonly string[]) => {
    const window = { mates: ['b'], together: ['b'], counted: async () => counted }
    return (await finished(report, 'full', false, [], paidByTier(), window, { b: before })).box.beside.b!
  }
  const shown = await remembered(0, ['b'])
  expect(shown).toBeGreaterThan(10)
  expect(await remembered(0.9 * shown, ['b'])).toBe(shown)
  expect(await remembered(0.9 * shown, [])).toBe(0.9 * shown)
  expect(await remembered(1.1 * shown, [])).toBe(shown)
})
