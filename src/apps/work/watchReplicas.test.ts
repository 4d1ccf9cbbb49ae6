import { describe, expect, test } from 'vitest'
import { calmingStart, FAULT_AT, faultyFlow } from '../../../test/support/faultyFlow.ts'
import { openInProcessBox, type ProverProgram } from '../../../test/support/inProcessBox.ts'
import { lyingStart } from '../../../test/support/lyingDevice.ts'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import type { ReadyWork } from '../../../test/support/smallWorks.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { tinyTraining } from '../../../test/support/tinyTraining.ts'
import { saying, workProgram } from '../../../test/support/workProgram.ts'
import { EngineRun } from '../../core/work/engineRun.ts'
import { replayWork, runSegments } from '../../core/work/replayWork.ts'
import { patchRunner } from '../../core/work/runPatch.ts'
import { engineOnOwned, hasherOn } from '../../core/work/workEngine.ts'
import { createWorkKernels } from '../../core/work/workKernels.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { readKernel } from '../../drivers/system/kernelFiles.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import type { WorkRun } from '../../ports/workDevice.ts'
import { type ReplayHere, watchReplicas } from './watchReplicas.ts'

const engine = async () => engineOnOwned(await createWorkKernels(await readKernel('work.wasm')))
const hasher = hasherOn(await engine())
const runPatch = patchRunner(await engine(), EXACT_OPS)
const small = { layers: 1, width: 16, heads: 1, keyHeads: 1, hidden: 32 }
const training = tinyTraining('gpt', 2, hasher, { model: small })
const { work } = training
const never = new AbortController().signal

/** Draws that miss what both liars did. */
const UNSEEN = 25

const tooLong: ReplayHere = async () => null
const replayOf =
  ({ work, given }: ReadyWork): ReplayHere =>
  async (said, through = 0) => {
    const run = new EngineRun(await engine(), work, given, hasher)
    return said ? replayWork(work, said, run) : runSegments(work, through + 1, run)
  }
const replayed = replayOf(training)

async function replicas(provers: readonly ProverProgram[], replay: ReplayHere = tooLong, seed = 5, asked = training) {
  const boxes = provers.map((prover) => openInProcessBox(prover))
  const ours = { ...asked, hasher, runPatch, clock: systemClock, randomness: seededRandomness(seed), every: 0 }
  const quiet = { segmentMs: 60_000, onStep: () => {}, onState: () => {} }
  try {
    const started = await Promise.all(boxes.map((box) => box.start(never)))
    const found = await watchReplicas(
      started.map((prover) => ({ ...ours, ...quiet, prover })),
      replay,
      never,
    )
    const ends = found.ends.map((end) => ('shown' in end ? 'shown' : end.rejected.code))
    return { ...found, ends, why: found.ends.map((end) => ('shown' in end ? '' : end.rejected.message)) }
  } finally {
    await Promise.all(boxes.map((box) => box.close()))
  }
}

const honest = (key: number, cheat?: (run: WorkRun) => Partial<WorkRun>) => workProgram(cheat, testSigner(key))
/** Computes one step of its second segment wrongly, and stands by it: the lie is in every run of it. */
const liar = (key: number) => workProgram(undefined, testSigner(key), lyingStart(2))
/** Lies as well, and is gone when it is asked for it. */
const shy = workProgram(() => ({ trace: () => Promise.reject(new Error('no')) }), testSigner(9), lyingStart(2))
/** Stands still in its second segment, and says so of all it shows. */
const lazy = honest(9, (run) => ({
  advance: async (segment) => ({ ...(await run.advance(Math.min(segment, 0))), transition: segment + 1 }),
}))
/** Right, and gone when it is asked for it. */
const gone = (key: number) => honest(key, () => ({ trace: () => Promise.reject(new Error('no')) }))
/** Right, and wrong in what it shows of its first step. */
const blurred = honest(6, (run) => ({
  trace: async (segment) =>
    (await run.trace(segment)).map((root, i) => (i === work.state.size ? root.map((byte) => byte ^ 1) : root)),
}))
/** Says what another committed to, under a key of its own. */
const copier = saying(
  (answer) => [answer.type === 'greeted' ? { ...answer, key: testSigner(8).publicKey } : answer],
  honest(7),
)

describe('replicas', () => {
  test('that did the same agree', async () => {
    expect(await replicas([honest(7), honest(8)])).toMatchObject({ outcome: 'agree', ends: ['shown', 'shown'] })
  })

  test('attack 449: of which one cannot show what both said are too few', async () => {
    const { outcome, ends } = await replicas([honest(7), gone(8)])
    expect([outcome, ends[0]]).toEqual(['too few', 'shown'])
    expect((await replicas([honest(6), honest(7), gone(8)])).outcome).toBe('agree')
  })

  test('that differ are settled between them: one patch is recomputed, and whoever lied is named', async () => {
    const { outcome, ends, why, disputes } = await replicas([liar(9), honest(8)])
    expect([outcome, ...ends]).toEqual(['settled', 'DISPUTE_LOST', 'shown'])
    expect(why[0]).toMatch(/is wrong where that was looked at \(segment 1, step quantise, patch \d+; \d+ rounds\)$/)
    const found = { wrong: 'first', segment: 1, op: 'quantise', between: [0, 1], keys: [testSigner(9).publicKey, {}] }
    expect(disputes).toMatchObject([found])
    expect(disputes[0]!.rounds).toBeLessThanOrEqual(12)
  })

  test('whoever cannot show what it said loses, whichever side it stands on', async () => {
    const { ends, why, disputes } = await replicas([honest(7), lazy, honest(8)])
    expect(ends).toEqual(['shown', 'DISPUTE_LOST', 'shown'])
    expect(why[1]).toContain('segment 1, it contradicts what it said')
    expect(disputes).toMatchObject([{ wrong: 'second', segment: 1, between: [0, 1] }])
  })

  test('under one key are too few', async () => {
    const { outcome, ends, why } = await replicas([honest(7), honest(7)])
    expect([outcome, ...ends]).toEqual(['too few', 'shown', 'SAME_KEY'])
    expect(why[1]).toContain('(replica 1)')
  })

  test('of which one is gone, and one copied what another had committed to, are too few', async () => {
    const { outcome, ends } = await replicas([honest(7), async () => {}, copier])
    expect([outcome, ...ends]).toEqual(['too few', 'shown', 'VANISHED', 'NOT_AS_HIDDEN'])
  })
})

describe('attack 357: nobody is rejected for what another does', () => {
  test.each([
    ['falls silent', gone(6), 'UNHEARD'],
    ['shows something wrong', blurred, 'DISPUTE_LOST'],
  ])('that agrees with it and %s', async (_, traitor, code) => {
    const found = await replicas([traitor, honest(8), liar(9)])
    expect([found.outcome, ...found.ends]).toEqual(['settled', code, 'shown', 'DISPUTE_LOST'])
    expect(found.disputes.map(({ between, isSilent }) => [...between, isSilent])).toEqual([
      [0, 2, code === 'UNHEARD'],
      [1, 2, false],
    ])
  })

  test('two who lied alike are asked one after the other', async () => {
    const { ends } = await replicas([liar(6), liar(9), honest(8)])
    expect(ends).toEqual(['DISPUTE_LOST', 'DISPUTE_LOST', 'shown'])
  })

  test('attack 511: nor is one that goes away while the work is replayed here', async () => {
    let leave = () => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    const leaving: ProverProgram = (io, signal) => Promise.race([honest(7)(io, signal), left])
    const replay: ReplayHere = (said) => {
      leave()
      return replayed(said)
    }
    const { outcome, ends } = await replicas([shy, leaving, honest(8)], replay)
    expect([outcome, ...ends]).toEqual(['settled', 'UNHEARD', 'shown', 'shown'])
  })

  describe('where all who are right are cut off', () => {
    test('one that is left is too few', async () => {
      const { outcome, ends, why } = await replicas([gone(6), liar(9), gone(8)])
      expect([outcome, ends[0], ends[2]]).toEqual(['too few', 'UNHEARD', 'UNHEARD'])
      expect(why[0]).toMatch(/^it differed from another replica, and did not answer for it \(it gave up \(/)
    })

    test('also where it was right against another', async () => {
      expect((await replicas([gone(6), lazy, liar(8)])).outcome).toBe('too few')
    })

    test('attack 510: two that lie alike are no yes where nothing was replayed', async () => {
      const { outcome, ends } = await replicas([gone(6), liar(8), liar(9)], tooLong, UNSEEN)
      expect([outcome, ...ends]).toEqual(['open', 'UNHEARD', 'shown', 'shown'])
    })

    test.each([
      ['who lied are found by a replay here', [gone(6), liar(8), liar(9)], ['UNHEARD', 'DISPUTE_LOST', 'DISPUTE_LOST']],
      ['one that lied is found by a replay here', [liar(9), gone(6)], ['DISPUTE_LOST', 'UNHEARD']],
    ] as const)('%s', async (_, provers, wanted) => {
      const { outcome, ends, why, isReplayed } = await replicas(provers, replayed, UNSEEN)
      expect([outcome, isReplayed, ...ends]).toEqual(['too few', false, ...wanted])
      expect(why.join()).toContain('segment 1, by a replay')
    })

    test('who is right against one that is silent is shown by a replay here', async () => {
      const { outcome, ends, isReplayed } = await replicas([shy, honest(8)], replayed)
      expect([outcome, isReplayed, ...ends]).toEqual(['settled', true, 'UNHEARD', 'shown'])
    })
  })
})

describe('attack 519: one that says that the work has no result', () => {
  const flow = faultyFlow(hasher)
  const calmed = (key: number) => workProgram(undefined, testSigner(key), calmingStart(FAULT_AT - 2))
  /** Gives up before its second segment, with words of its own. */
  const refusing = (key: number, code: string) =>
    saying((answer) => {
      const isDue = answer.type === 'hidden' && answer.segment === 2
      return [isDue ? { type: 'fault', code, text: 'so it is' } : answer]
    }, honest(key))

  test('is right, and two that lie alike deliver nothing', async () => {
    const { ends, refusal } = await replicas([honest(6), calmed(8), calmed(9)], replayOf(flow), UNSEEN, flow)
    expect(ends).toEqual(['REFUSED', 'NO_SUCH_RESULT', 'NO_SUCH_RESULT'])
    expect(refusal).toMatchObject({ code: 'FAULT', message: expect.stringContaining(`in segment ${FAULT_AT}: step 1`) })
  })

  test('is no less heard where nothing is run again', async () => {
    const { outcome, ends } = await replicas([honest(6), calmed(8), calmed(9)], tooLong, UNSEEN, flow)
    expect([outcome, ...ends]).toEqual(['open', 'REFUSED_UNSEEN', 'shown', 'shown'])
  })

  test.each(['FAULT', 'BAD_SHAPE'])('and lies (%s) costs nothing where it is run again, else a yes', async (code) => {
    const provers = [refusing(6, code), honest(7), honest(8)]
    const { outcome, ends, why } = await replicas(provers, replayed)
    expect([outcome, ...ends]).toEqual(['settled', 'REFUSED_WRONGLY', 'shown', 'shown'])
    expect(why[0]).toContain(`as it says: "so it is [${code}]"`)
    expect((await replicas(provers)).outcome).toBe('open')
    expect((await replicas(provers.slice(0, 2), replayed)).outcome).toBe('settled')
  })

  test('is another than one that gave up for itself', async () => {
    const { outcome, ends } = await replicas([refusing(6, 'WORK_FAILED'), honest(7), honest(8)])
    expect([outcome, ends[0]]).toEqual(['agree', 'GAVE_UP'])
  })
})
