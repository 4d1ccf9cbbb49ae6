import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { claimed } from '../../src/core/params/provenance.ts'
import type { BoxFilter, Finish, Store, TakenJob } from '../../src/ports/store.ts'
import { madeUpRound } from '../support/madeUpRounds.ts'
import { entry, failedBox, finishOf, job, resultOf } from '../support/storeFixtures.ts'

export interface StoreUnderTest {
  /** An empty store. */
  open(): Promise<Store>
  end(): Promise<void>
}

const inventory = claimed({
  program: 'touchstone 0.1.0',
  devices: [
    {
      class: 'gpu' as const,
      backEnd: 'cuda',
      name: 'Card',
      memoryBytes: 2 ** 34,
      freeBytes: 2 ** 33,
      precisions: ['int8' as const],
      details: { uuid: 'GPU-1', driver: '580' },
    },
  ],
  host: { cores: 8 },
})

const all = { after: null, limit: 100 }
const owner = 'validator-a'
const claim = { owner, holdMs: 60_000, limit: 10 }

/** What every store promises; each driver runs all of it. */
export function storeSuite(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`store: ${name}`, () => {
    let under: StoreUnderTest
    let store: Store
    beforeAll(async () => {
      under = await make()
      store = await under.open()
    })
    afterAll(async () => {
      await store?.close()
      await under?.end()
    })
    /** Box ids are fresh in every test, so that one store serves all of them. */
    let n = 0
    let a = ''
    let b = ''
    beforeEach(() => {
      n++
      a = `box-${n}a`
      b = `box-${n}b`
    })
    const only = async (boxId: string): Promise<TakenJob> => {
      const taken = await store.takeJobs({ ...claim, limit: 100 })
      return taken.find((leased) => leased.boxId === boxId)!
    }

    test('keeps a box, changes it, lists it page by page and lets it go', async () => {
      await store.putBox(entry(a, { provider: `p${n}` }))
      await store.putBox(entry(b, { provider: `p${n}`, claim: '8x H100' }))
      await store.putBox(entry(a, { provider: `p${n}`, address: 'local' }))
      const first = await store.boxes({ provider: `p${n}` }, { after: null, limit: 1 })
      expect(first.items.map(({ id, address, status, score }) => [id, address, status, score])).toEqual([
        [a, 'local', 'new', 0],
      ])
      const second = await store.boxes({ provider: `p${n}` }, { after: first.next, limit: 1 })
      expect(second.items.map(({ id }) => id)).toEqual([b])
      expect(second.next).toBeNull()
      expect(await store.removeBox(a)).toBe(true)
      expect(await store.removeBox(a)).toBe(false)
      expect(await store.box(a)).toBeNull()
      expect((await store.fleet()).map(({ id }) => id)).not.toContain(a)
    })

    test('attack 155: one address, or one provider, is one box', async () => {
      const key = n.toString(16).padStart(64, '0')
      const [at, via] = [`lease://${a}:7878#${key}`, `lease://hub#${key}`]
      expect(await store.putBox(entry(a))).toBeNull()
      expect(await store.putBox(entry(b, { address: entry(a).address }))).toBe(a)
      expect(await store.box(b)).toBeNull()
      expect(await store.putBox(entry(b, { address: at }))).toBeNull()
      expect(await store.putBox(entry(a, { address: via, claim: 'L4' }))).toBe(b)
      expect(await store.box(a)).toMatchObject({ address: entry(a).address, claim: null })
      // Who is gone holds no address; and of two that ask at once one gets it.
      await store.removeBox(b)
      expect(await store.putBox(entry(a, { address: via }))).toBeNull()
      await store.removeBox(a)
      const both = await Promise.all([a, b].map((id) => store.putBox(entry(id, { address: at }))))
      expect(both.filter((other) => other === null)).toHaveLength(1)
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('text that looks like SQL is only text', async () => {
      const hostile = `x'); drop table boxes; --${n}`
      await store.putBox(entry(hostile, { provider: hostile, claim: '$1 {x} \\ "' }))
      expect((await store.box(hostile))?.claim).toBe('$1 {x} \\ "')
      expect((await store.boxes({ provider: hostile }, all)).items).toHaveLength(1)
      await store.removeBox(hostile)
    })

    test('opens a round once, with its jobs', async () => {
      await store.putBox(entry(a))
      await store.putBox(entry(b))
      const number = 1000 + n
      const jobs = [job(a, { round: number }), job(b, { round: number, delayMs: 3_600_000 })]
      expect(await store.openRound({ number, height: 360_000, jobs })).toBe(true)
      expect(await store.openRound({ number, height: 360_000, jobs })).toBe(false)
      expect(await store.lastRound()).toMatchObject({ number, height: 360_000, jobs: 2, done: 0 })
      expect(await store.roundDue(3_600_000)).toBe(false)
      expect(await store.roundDue(-3_600_000)).toBe(true)
      const taken = await store.takeJobs(claim)
      expect(taken.map(({ boxId, round }) => [boxId, round])).toEqual([[a, number]])
      await store.finishJob(finishOf(taken[0]!, owner))
      await store.removeBox(b)
      expect(await store.lastRound()).toMatchObject({ jobs: 2, done: 2, accepted: 1 })
    })

    test('a box has one job per round, kind and reason', async () => {
      await store.putBox(entry(a))
      const asked = job(a, { round: n, delayMs: 3_600_000, reason: 'asked' })
      expect(await store.addJob(asked)).toBe(true)
      expect(await store.addJob(asked)).toBe(false)
      expect(await store.addJob({ ...asked, boxId: 'nobody' })).toBe(false)
      await store.removeBox(a)
    })

    test('a job that is held is nobody else’s until its time is over', async () => {
      await store.putBox(entry(a))
      await store.addJob(job(a, { round: n }))
      const mine = (await store.takeJobs({ ...claim, holdMs: 60_000 }))[0]!
      expect(mine).toMatchObject({ boxId: a, attempt: 1, tries: 0, box: { id: a } })
      expect(await store.takeJobs({ ...claim, owner: 'b' })).toEqual([])
      expect(await store.keepJobs({ owner, holdMs: -1, jobs: [mine] })).toEqual([mine.id])
      expect(await store.takeJobs(claim)).toEqual([])
      const theirs = (await store.takeJobs({ ...claim, owner: 'b' }))[0]!
      expect(theirs).toMatchObject({ id: mine.id, attempt: 2 })
      expect(await store.keepJobs({ owner, holdMs: 60_000, jobs: [mine] })).toEqual([])
      expect(await store.finishJob(finishOf(mine, owner))).toBeNull()
      expect((await store.history(a, all)).items).toEqual([])
      expect(await store.finishJob(finishOf(theirs, 'b'))).toBeGreaterThan(0)
      expect(await store.finishJob(finishOf(theirs, 'b'))).toBeNull()
      expect((await store.history(a, all)).items).toHaveLength(1)
    })

    test('two jobs of one box are never out at once', async () => {
      await store.putBox(entry(a))
      await store.addJob(job(a, { round: n }))
      await store.addJob(job(a, { round: n, reason: 'changed' }))
      const first = await store.takeJobs(claim)
      expect(first).toHaveLength(1)
      expect(await store.takeJobs({ ...claim, owner: 'b' })).toEqual([])
      await store.finishJob(finishOf(first[0]!, owner))
      const second = await store.takeJobs({ ...claim, owner: 'b' })
      expect(second.map(({ reason }) => reason)).toEqual(['changed'])
      await store.finishJob(finishOf(second[0]!, 'b'))
    })

    test('released jobs go back without a counted try', async () => {
      await store.putBox(entry(a))
      await store.addJob(job(a, { round: n }))
      const [mine] = await store.takeJobs(claim)
      expect(await store.releaseJobs('somebody else')).toBe(0)
      expect(await store.releaseJobs(owner)).toBe(1)
      expect(await store.finishJob(finishOf(mine!, owner))).toBeNull()
      const again = await only(a)
      expect(again).toMatchObject({ attempt: 2, tries: 0 })
      await store.finishJob(finishOf(again, owner))
    })

    test('a failure takes the score at once, is counted, and comes back for a retry', async () => {
      await store.putBox(entry(a, { provider: `p${n}` }))
      await store.addJob(job(a, { round: n }))
      const first = await only(a)
      await store.finishJob(finishOf(first, owner, { retryInMs: null }))
      expect(await store.box(a)).toMatchObject({ status: 'verified', score: 100, verifiedTotal: 1, failuresTotal: 0 })
      await store.addJob(job(a, { round: n, reason: 'asked' }))
      const second = await only(a)
      const result = resultOf({ outcome: 'rejected', code: 'LATE_ROOT', detail: { code: 'LATE_ROOT', part: 2 } })
      await store.finishJob(finishOf(second, owner, { result, box: failedBox, retryInMs: 0 }))
      expect(await store.box(a)).toMatchObject({ status: 'failed', score: 0, failuresTotal: 1, failuresInRow: 1 })
      const third = await only(a)
      expect(third).toMatchObject({ id: second.id, tries: 1, attempt: 2 })
      await store.finishJob(finishOf(third, owner, { retryInMs: 3_600_000, result, box: failedBox }))
      expect((await store.takeJobs(claim)).filter(({ boxId }) => boxId === a)).toEqual([])
      expect((await store.statistics()).rejectedByCode.LATE_ROOT).toBeGreaterThanOrEqual(2)
      await store.removeBox(a)
    })

    test('keeps every figure, the certificate and the marks of a result', async () => {
      await store.putBox(entry(a, { provider: `p${n}` }))
      await store.addJob(job(a, { round: n }))
      const leased = await only(a)
      const figures = [
        { device: -1, name: 'scaling', value: 0.97 },
        { device: 0, name: 'rate.int8', value: 1.2345678901234e15 },
      ]
      const marks = [{ what: 'driver', before: '570', after: '580' } as const]
      const certificate = `{"payload":"${'QUJD'.repeat(2000)}é"}\n`
      const runId = `${n}`.padStart(32, 'f')
      const result = resultOf({ runId, certificate, figures, marks, inventory })
      const followUps = [job(a, { round: n, reason: 'changed' })]
      const id = (await store.finishJob(finishOf(leased, owner, { result, followUps })))!
      expect(await store.certificate(runId)).toBe(certificate)
      expect(await store.certificate('00')).toBeNull()
      expect(await store.result(id)).toMatchObject({ id, boxId: a, runId, figures, marks, seconds: 1.5, inventory })
      expect(await store.result(0)).toBeNull()
      expect(await store.specs(`p${n}`, all)).toMatchObject({
        items: [{ boxId: a, runId, score: 100, figures, result: id }],
      })
      // Attack 89: what a box may make as fat as it likes is in no list.
      const lists = [
        await store.history(a, all),
        await store.boxes({ provider: `p${n}` }, all),
        await store.specs(`p${n}`, all),
      ]
      for (const { items } of lists)
        for (const fat of ['inventory', 'judgement']) expect(items[0]).not.toHaveProperty(fat)
      expect((await store.statistics()).figures.find(({ name }) => name === 'scaling')).toMatchObject({ median: 0.97 })
      const taken = (boxId: string, round: number, ...chips: string[]) => store.takeChips({ round, boxId, chips })
      expect(await taken(a, n, `c${n}`, `d${n}`)).toEqual([])
      expect(await taken(a, n, `c${n}`)).toEqual([])
      expect(await taken('other', n, `d${n}`, `e${n}`)).toEqual([a])
      expect(await taken(a, n, `e${n}`)).toEqual(['other'])
      expect(await taken('other', n + 100, `c${n}`)).toEqual([])
      expect(await store.boxesWithCards(['GPU-1'], 'other')).toContain(a)
      expect(await store.boxesWithCards(['GPU-1'], a)).not.toContain(a)
      const next = await only(a)
      expect(next.reason).toBe('changed')
      await store.finishJob(finishOf(next, owner))
      expect((await store.history(a, { after: null, limit: 1 })).items[0]!.id).toBeGreaterThan(id)
      const older = await store.history(a, {
        after: (await store.history(a, { after: null, limit: 1 })).next,
        limit: 1,
      })
      expect(older.items.map((item) => item.id)).toEqual([id])
      await store.removeBox(a)
    })

    test('a claim’s verdict is a column of the box and of its results, and belongs to that claim alone', async () => {
      const provider = `p${n}`
      await store.putBox(entry(a, { provider, claim: 'H100 SXM' }))
      await store.putBox(entry(b, { provider, claim: 'H100 SXM' }))
      const finish = async (boxId: string, round: number, more: Partial<Finish>) => {
        await store.addJob(job(boxId, { round }))
        const id = await store.finishJob(finishOf(await only(boxId), owner, more))
        return (await store.result(id!))!
      }
      const found = async (filter: BoxFilter) =>
        (await store.boxes({ provider, ...filter }, all)).items.map(({ id }) => id)
      const result = resultOf({ claimVerdict: 'different' })
      const box = { ...finishOf({} as TakenJob, owner).box, status: 'claim-unmet' } as const
      expect(await finish(a, n, { result, box })).toMatchObject({ claimVerdict: 'different' })
      await finish(b, n, { result: resultOf({ claimVerdict: 'matches' }) })
      expect(await store.box(a)).toMatchObject({ status: 'claim-unmet', claimVerdict: 'different', score: 100 })
      expect(await store.box(b)).toMatchObject({ status: 'verified', claimVerdict: 'matches' })
      expect(await found({ claimVerdict: 'different' })).toEqual([a])
      expect(await found({ status: 'claim-unmet' })).toEqual([a])
      expect(await found({ status: 'verified', claimVerdict: 'matches' })).toEqual([b])
      expect(await found({ status: 'verified', claimVerdict: 'different' })).toEqual([])
      expect((await store.overview()).byClaimVerdict).toMatchObject({ different: 1, matches: 1 })
      const first = await store.specs(provider, { after: null, limit: 1 })
      expect(first).toMatchObject({ items: [{ boxId: a, claim: 'H100 SXM', claimVerdict: 'different' }], next: a })
      expect(await store.specs(provider, { after: first.next, limit: 1 })).toMatchObject({
        items: [{ boxId: b, claim: 'H100 SXM', claimVerdict: 'matches' }],
        next: null,
      })
      // What is not scored says nothing of the claim; a failure takes the verdict with the score.
      const busy = { ...box, status: 'busy', scored: false } as const
      await finish(a, n + 1000, { result: resultOf({ outcome: 'busy' }), box: busy })
      expect(await store.box(a)).toMatchObject({ status: 'busy', claimVerdict: 'different' })
      await finish(a, n + 2000, { result: resultOf({ outcome: 'unreachable' }), box: failedBox })
      expect(await store.box(a)).toMatchObject({ status: 'failed', claimVerdict: null })
      // A claim changed before, or in the middle of, a run is not what the run judged.
      await store.putBox(entry(b, { provider, claim: 'H100 SXM' }))
      expect(await store.box(b)).toMatchObject({ status: 'verified', claimVerdict: 'matches' })
      await store.putBox(entry(b, { provider, claim: 'H200 SXM' }))
      expect(await store.box(b)).toMatchObject({ status: 'new', claimVerdict: null })
      await store.addJob(job(b, { round: n + 1000 }))
      const running = await only(b)
      await store.putBox(entry(b, { provider, claim: 'L4' }))
      await store.finishJob(finishOf(running, owner, { result: resultOf({ claimVerdict: 'matches' }) }))
      expect(await store.box(b)).toMatchObject({ status: 'new', claimVerdict: null })
      expect((await store.history(b, all)).items[0]).toMatchObject({ claimVerdict: 'matches' })
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 135: a score that is lowered is as old as it was, and never raised by it', async () => {
      await store.putBox(entry(a))
      const finish = async (round: number, more: Partial<Finish['box']>) => {
        await store.addJob(job(a, { round }))
        const running = await only(a)
        const { box } = finishOf(running, owner)
        await store.finishJob(finishOf(running, owner, { box: { ...box, ...more } }))
        return (await store.box(a))!
      }
      const terms = [{ name: 'gpu', points: 60, got: 1, full: 1 }]
      const { scoredAt } = await finish(n, { score: 100 })
      const low = { scored: false, lowered: true, terms }
      expect(await finish(n + 1000, { ...low, score: 60 })).toMatchObject({ score: 60, terms, scoredAt })
      expect(await finish(n + 2000, { ...low, score: 80, terms: [] })).toMatchObject({ score: 60, terms, scoredAt })
      await store.removeBox(a)
    })

    test('attack 65: what one machine proved is not what stands at another address', async () => {
      await store.putBox(entry(a, { claim: 'L4' }))
      const finish = async (round: number, between = async (): Promise<unknown> => null) => {
        await store.addJob(job(a, { round }))
        const running = await only(a)
        await between()
        await store.finishJob(finishOf(running, owner, { result: resultOf({ claimVerdict: 'matches' }) }))
        return await store.box(a)
      }
      expect(await finish(n)).toMatchObject({ status: 'verified', claimVerdict: 'matches' })
      await store.putBox(entry(a, { claim: 'L4', address: 'ssh://root@elsewhere:22' }))
      expect(await store.box(a)).toMatchObject({ status: 'new', claimVerdict: null })
      const moved = () => store.putBox(entry(a, { claim: 'L4', address: 'ssh://root@far-away:22' }))
      expect(await finish(n + 1000, moved)).toMatchObject({ status: 'new', claimVerdict: null })
      expect(await finish(n + 2000)).toMatchObject({ status: 'verified', claimVerdict: 'matches' })
      await store.removeBox(a)
    })

    test('attack 78: score, terms and history of acceptance end with the address and the claim they were earned under', async () => {
      const claimed = entry(a, { claim: 'L4' })
      const terms = [{ name: 'gpu', points: 100, got: 1, full: 1 }]
      const earned = { ...finishOf({} as TakenJob, owner).box, terms }
      const none = { score: 0, terms: [], scoredAt: null, verifiedTotal: 0, claimVerdict: null, inventory: null }
      const finish = async (round: number, more: Partial<Finish>, between = async (): Promise<unknown> => null) => {
        await store.addJob(job(a, { round }))
        const running = await only(a)
        await between()
        await store.finishJob(finishOf(running, owner, more))
        return await store.box(a)
      }
      const accepted = { result: resultOf({ claimVerdict: 'matches', inventory }), box: earned }
      const unscored = { result: resultOf({ outcome: 'fault' }), box: { ...earned, scored: false } }
      const rejected = { result: resultOf({ outcome: 'rejected', code: 'LATE_ROOT' }), box: failedBox }
      const ways = [
        { ...claimed, claim: 'H200 SXM' },
        { ...claimed, address: 'ssh://root@elsewhere:22' },
      ]
      await store.putBox(claimed)
      for (const [i, other] of ways.entries()) {
        const round = n + 10_000 * (i + 1)
        expect(await finish(round, accepted)).toMatchObject({ score: 100, terms, status: 'verified', inventory })
        await store.putBox(other)
        expect(await store.box(a)).toMatchObject({ status: 'new', ...none })
        // In mid-run: earned, kept, lost, and even where all is as it was before.
        const back = () => store.putBox(claimed)
        expect(await finish(round + 1, accepted, back)).toMatchObject({ status: 'new', ...none })
        await finish(round + 2, accepted)
        const away = () => store.putBox(other)
        expect(await finish(round + 3, unscored, away)).toMatchObject({ status: 'new', ...none })
        expect(await finish(round + 4, rejected, back)).toMatchObject({ status: 'new', failuresTotal: 0, ...none })
        await finish(round + 5, accepted)
        const thereAndBack = () => away().then(back)
        expect(await finish(round + 6, unscored, thereAndBack)).toMatchObject({ status: 'new', ...none })
        expect((await store.history(a, all)).items[0]).toMatchObject({ outcome: 'fault', round: round + 6 })
      }
      await store.removeBox(a)
    })

    test('attack 77: a retry runs in the next cohort of its round or not at all, and a cohort is taken whole', async () => {
      const ids = Array.from({ length: 4 }, (_, i) => `cohort-${n}-${i}`)
      for (const id of ids) await store.putBox(entry(id))
      const number = 3_000_000 + n
      const jobs = ids.map((id, i) => job(id, { round: number, cohort: i < 2 ? 0 : 1 }))
      await store.openRound({ number, height: null, jobs })
      expect(await store.takeJobs({ ...claim, limit: 1, places: 2 })).toEqual([])
      const [first, second, ...more] = await store.takeJobs({ ...claim, limit: 3, places: 4 })
      expect([first!.boxId, second!.boxId, more]).toEqual([ids[0], ids[1], []])
      await store.finishJob(finishOf(first!, owner, { box: failedBox, retryInMs: 300_000, retryAlone: false }))
      expect(await store.takeJobs({ ...claim, limit: 2, places: 4 })).toEqual([])
      const together = await store.takeJobs({ ...claim, limit: 3, places: 4 })
      expect(together.map(({ boxId, cohort, tries }) => [boxId, cohort, tries])).toEqual([
        [first!.boxId, 1, 1],
        [ids[2], 1, 0],
        [ids[3], 1, 0],
      ])
      await store.finishJob(finishOf(second!, owner, { box: failedBox, retryInMs: 0, retryAlone: false }))
      for (const one of together) await store.finishJob(finishOf(one, owner))
      expect(await store.queue()).toMatchObject({ waiting: 0, held: 0 })
      for (const id of ids) await store.removeBox(id)
    })

    test('attack 108: a cohort that waits for a box at another job leaves the places to the next', async () => {
      const ids = Array.from({ length: 4 }, (_, i) => `waits-${n}-${i}`)
      for (const id of ids) await store.putBox(entry(id))
      const number = 4_000_000 + n
      await store.addJob(job(ids[0]!, { round: number - 1, kind: 'light', reason: 'probe' }))
      const [look] = await store.takeJobs(claim)
      expect(look).toMatchObject({ boxId: ids[0], kind: 'light' })
      const jobs = ids.map((id, i) => job(id, { round: number, cohort: i < 2 ? 0 : 1 }))
      await store.openRound({ number, height: null, jobs })
      const next = await store.takeJobs({ ...claim, limit: 2, places: 2 })
      expect(next.map(({ boxId }) => boxId)).toEqual(ids.slice(2))
      expect(await store.takeJobs({ ...claim, limit: 2, places: 2 })).toEqual([])
      await store.finishJob(finishOf(look!, owner))
      const late = await store.takeJobs({ ...claim, limit: 2, places: 2 })
      expect(late.map(({ boxId }) => boxId)).toEqual(ids.slice(0, 2))
      for (const one of [...next, ...late]) await store.finishJob(finishOf(one, owner))
      for (const id of ids) await store.removeBox(id)
    })

    test('attack 77, 79: what a box owes, missed and kept waiting is remembered; it rests, and has a lane of its own', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const state = { owes: [b, 'gone'], missed: 1, stalls: 2, restMs: 3_600_000 }
      await store.addJob(job(b, { round: n }))
      await store.finishJob(finishOf(await only(b), owner))
      await store.addJob(job(a, { round: n }))
      await store.finishJob(finishOf(await only(a), owner, { box: { ...failedBox, ...state } }))
      expect(await store.box(a)).toMatchObject({ owes: [b, 'gone'], missed: 1, stalls: 2 })
      const planned = (await store.fleet()).find(({ id }) => id === a)
      const owing = { owes: [b, 'gone'], beside: {}, stalls: 2, rests: true, joins: true }
      expect(planned).toEqual({ id: a, allocated: false, score: 0, ...owing })
      await store.addJob(job(a, { round: n + 1 }))
      expect(await store.takeJobs(claim)).toEqual([])
      await store.addJob(job(a, { round: n + 2, reason: 'asked' }))
      expect(await store.takeJobs({ ...claim, stalled: false })).toEqual([])
      const [asked] = await store.takeJobs({ ...claim, stalled: true })
      expect(asked).toMatchObject({
        reason: 'asked',
        owed: [b],
        away: [],
        box: { owes: [b, 'gone'], missed: 1, stalls: 2 },
      })
      await store.finishJob(finishOf(asked!, owner))
      expect(await store.takeJobs({ ...claim, stalled: true })).toEqual([])
      const [rested] = await store.takeJobs({ ...claim, stalled: false })
      expect(rested).toMatchObject({ boxId: a, round: n + 1 })
      await store.finishJob(finishOf(rested!, owner))
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 140: who is rented while a full proof of it waits, or is to be retried, is left alone', async () => {
      const ids = Array.from({ length: 3 }, (_, i) => `rented-${n}-${i}`)
      for (const id of ids) await store.putBox(entry(id))
      const number = 5_000_000 + n
      await store.openRound({ number, height: null, jobs: ids.map((id) => job(id, { round: number })) })
      await store.setAllocated(ids[0]!, true)
      await store.putBox(entry(ids[1]!, { allocated: true }))
      const [running, ...more] = await store.takeJobs({ ...claim, limit: 4, places: 4 })
      expect([running!.boxId, more]).toEqual([ids[2], []])
      await store.setAllocated(ids[2]!, true)
      const followUps = [job(ids[2]!, { round: number, reason: 'changed', cohort: -1 })]
      await store.finishJob(finishOf(running!, owner, { retryInMs: 0, followUps }))
      expect(await store.queue()).toMatchObject({ waiting: 0, held: 0 })
      await store.addJob(job(ids[0]!, { round: number, kind: 'light' }))
      expect(await only(ids[0]!)).toMatchObject({ kind: 'light' })
      await store.releaseJobs(owner)
      for (const id of ids) await store.removeBox(id)
    })

    test('attack 141: nothing is owed to a box whose score is old, since nobody can run beside one that is rented', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      await store.addJob(job(b, { round: n }))
      await store.finishJob(finishOf(await only(b), owner))
      await store.addJob(job(a, { round: n }))
      const missed = { ...failedBox, owes: [b], missed: 2 }
      await store.finishJob(finishOf(await only(a), owner, { box: missed }))
      const owed = async (round: number, owedForMs: number | null) => {
        await store.addJob(job(a, { round }))
        const [running] = await store.takeJobs({ ...claim, owedForMs })
        await store.finishJob(finishOf(running!, owner, { box: missed }))
        return [running!.boxId, running!.owed, running!.away]
      }
      expect(await owed(n + 1000, null)).toEqual([a, [b], []])
      await store.setAllocated(b, true)
      expect(await owed(n + 2000, 3_600_000)).toEqual([a, [b], []])
      expect(await owed(n + 3000, 0)).toEqual([a, [], []])
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 210: who is rented owes a window to the boxes it was drawn with, the latest of them', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const owes = async (id: string) => (await store.box(id))!.owes
      const draw = (number: number, boxId: string, mates: readonly string[]) =>
        store.openRound({
          number: 7_000_000 + 100 * n + number,
          height: null,
          jobs: [],
          missed: [{ boxId, mates, cohortSize: 8, away: true, strangers: [] }],
        })
      await draw(1, a, ['p', 'q'])
      await draw(2, a, ['r', 'p'])
      expect(await owes(a)).toEqual(['q', 'r', 'p'])
      const eight = Array.from({ length: 7 }, (_, i) => `m${i}`)
      await draw(3, a, eight)
      expect(await owes(a)).toEqual(['p', ...eight])
      // More than eight where one cohort is larger, and never fewer than it owed.
      const ten = Array.from({ length: 10 }, (_, i) => `n${i}`)
      await draw(4, a, ten)
      expect(await owes(a)).toEqual(ten)
      await draw(5, a, ['p'])
      expect(await owes(a)).toEqual([...ten.slice(1), 'p'])
      expect(await draw(5, a, ['x'])).toBe(false)
      expect(await owes(a)).toEqual([...ten.slice(1), 'p'])
      expect(await owes(b)).toEqual([])
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 210: two boxes that were each rented while the other earned owe one another, and one of them is away', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const number = 8_000_000 + 10 * n
      await store.openRound({ number, height: null, jobs: [a, b].map((id) => job(id, { round: number })) })
      // Rented after the draw, and free again at once: the window is missed all the same.
      await store.setAllocated(a, true)
      await store.setAllocated(a, false)
      expect((await store.box(a))!.owes).toEqual([b])
      const earned = await only(b)
      expect(earned).toMatchObject({ owed: [], away: [] })
      await store.finishJob(finishOf(earned, owner))
      await store.addJob(job(a, { round: number + 1, kind: 'light' }))
      const look = await only(a)
      await store.putBox(entry(b, { allocated: true }))
      const missed = [{ boxId: b, mates: [a], cohortSize: 8, away: true, strangers: [] }]
      await store.openRound({ number: number + 2, height: null, jobs: [job(a, { round: number + 2 })], missed })
      // What is added while a look is under way is not lost when it ends.
      await store.openRound({
        number: number + 3,
        height: null,
        jobs: [],
        missed: [{ boxId: a, mates: ['p'], cohortSize: 8, away: true, strangers: [] }],
      })
      await store.finishJob(finishOf(look, owner, { box: { ...failedBox, owes: [b] } }))
      expect((await store.box(a))!.owes).toEqual([b, 'p'])
      await store.addJob(job(a, { round: number + 3 }))
      const [running] = await store.takeJobs({ ...claim, owedForMs: 3_600_000 })
      expect(running).toMatchObject({ boxId: a, owed: [b], away: [b], box: { owes: [b, 'p'] } })
      await store.finishJob(finishOf(running!, owner))
      expect((await store.box(a))!.owes).toEqual([])
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 218: who was away when a round was opened is away from it, though it is free again', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const number = 9_000_000 + 10 * n
      for (const id of [a, b]) {
        await store.addJob(job(id, { round: number }))
        const earned = finishOf(await only(id), owner)
        await store.finishJob({ ...earned, box: { ...earned.box, owes: [id === a ? b : a] } })
      }
      const open = (round: number, away: boolean) =>
        store.openRound({
          number: round,
          height: null,
          jobs: [job(a, { round })],
          missed: [{ boxId: b, mates: [a], cohortSize: 8, away, strangers: [] }],
        })
      await open(number + 1, true)
      const beside = await only(a)
      expect(beside).toMatchObject({ owed: [b], away: [b] })
      await store.finishJob(finishOf(beside, owner, { box: { ...finishOf(beside, owner).box, owes: [b] } }))
      // Of a round that it stands in, or of one before, it says nothing.
      await open(number + 2, false)
      const later = await only(a)
      expect(later).toMatchObject({ owed: [b], away: [] })
      await store.finishJob(finishOf(later, owner, { box: { ...finishOf(later, owner).box, owes: [b] } }))
      // Rented after the opening, for a moment.
      const round = number + 3
      await store.openRound({ number: round, height: null, jobs: [a, b].map((id) => job(id, { round })) })
      await store.setAllocated(b, true)
      await store.setAllocated(b, false)
      expect(await only(a)).toMatchObject({ owed: [b], away: [b] })
      await store.releaseJobs(owner)
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 219: a box joins until it has stood in a cohort, and again when it moves or comes back', async () => {
      const joins = async () => (await store.fleet()).find(({ id }) => id === a)!.joins
      let round = 9_500_000 + 10 * n
      const open = (away: boolean) =>
        store.openRound({
          number: round++,
          height: null,
          jobs: [],
          missed: [{ boxId: a, mates: [b], cohortSize: 8, away, strangers: [] }],
        })
      await store.putBox(entry(a))
      await open(true)
      expect(await joins()).toBe(true)
      await open(false)
      expect(await joins()).toBe(false)
      expect((await store.box(a))!.owes).toEqual([b])
      await store.putBox(entry(a))
      expect(await joins()).toBe(false)
      await store.putBox(entry(a, { claim: 'T4' }))
      expect(await joins()).toBe(true)
      await open(false)
      await store.removeBox(a)
      await store.putBox(entry(a, { claim: 'T4' }))
      expect(await joins()).toBe(true)
      await store.removeBox(a)
    })

    test('attack 222: what a box showed beside others is remembered, and which of them hold a score', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const beside = { [b]: 50, gone: 70, [a]: 1 }
      await store.addJob(job(a, { round: n }))
      const first = finishOf(await only(a), owner)
      await store.finishJob({ ...first, box: { ...first.box, beside, owes: ['gone'] } })
      expect(await store.box(a)).toMatchObject({ beside })
      expect((await store.fleet()).find(({ id }) => id === a)).toMatchObject({ beside })
      const taken = async (round: number, owedForMs: number) => {
        await store.addJob(job(a, { round }))
        const [running] = await store.takeJobs({ ...claim, owedForMs })
        await store.finishJob({ ...first, job: running! })
        return running!
      }
      // It has no score yet.
      expect(await taken(n + 1000, 3_600_000)).toMatchObject({ boxId: a, owed: [], standing: [a], box: { beside } })
      expect((await store.box(a))!.beside).toEqual({})
      await store.addJob(job(b, { round: n }))
      await store.finishJob(finishOf(await only(b), owner))
      await store.addJob(job(a, { round: n + 2000 }))
      await store.finishJob({ ...first, job: await only(a), box: { ...first.box, beside: { [b]: 50 } } })
      expect(await taken(n + 3000, 3_600_000)).toMatchObject({ owed: [], away: [], standing: [b] })
      await store.addJob(job(a, { round: n + 4000 }))
      await store.finishJob({ ...first, job: await only(a), box: { ...first.box, beside: { [b]: 50 }, owes: [b] } })
      expect(await taken(n + 5000, 0)).toMatchObject({ owed: [], standing: [] })
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 228: what is owed for a window that was missed stays when the box is away from others', async () => {
      await store.putBox(entry(a))
      const cohorts = [0, 1, 2, 3].map((c) => Array.from({ length: 7 }, (_, i) => `c${c}m${i}`))
      const [missed, ...others] = cohorts
      others[0]![3] = missed![0]!
      await store.addJob(job(a, { round: n }))
      const earned = finishOf(await only(a), owner)
      await store.finishJob({ ...earned, box: { ...earned.box, owes: missed!, missed: 1 } })
      for (const [i, mates] of others.entries()) {
        const number = 9_700_000 + 10 * n + i
        await store.openRound({
          number,
          height: null,
          jobs: [],
          missed: [{ boxId: a, mates, cohortSize: 8, away: true, strangers: [] }],
        })
      }
      const { owes } = (await store.box(a))!
      expect(owes).toEqual([...missed!, 'c1m0', 'c2m6', ...others[2]!])
      await store.removeBox(a)
    })

    test('attack 239: strangers are noted, whatever happens meanwhile, and what a box knows stays', async () => {
      const join = `join-${n}`
      for (const id of [a, b, join]) await store.putBox(entry(id))
      const beside = async (id: string) => (await store.box(id))!.beside
      const round = 9_600_000 + 100 * n
      await store.addJob(job(a, { round: n }))
      const earned = finishOf(await only(a), owner)
      await store.finishJob({ ...earned, box: { ...earned.box, beside: { p: 5, q: 7 } } })
      await store.addJob(job(a, { round: n + 1000, kind: 'light' }))
      const look = finishOf(await only(a), owner)
      const missed = [
        { boxId: a, mates: [], cohortSize: 8, away: true, strangers: ['q', join] },
        { boxId: join, mates: [], cohortSize: 8, away: false, strangers: [a, b] },
      ]
      const jobs = [b, join].map((id) => job(id, { round }))
      await store.openRound({ number: round, height: null, jobs, missed })
      expect(await beside(join)).toEqual({ [a]: -1, [b]: -1 })
      await store.finishJob({ ...look, box: { ...look.box, beside: { p: 5, q: 6 } } })
      expect(await beside(a)).toEqual({ p: 5, q: 6, [join]: -1 })
      // Rented before its window, it is away from who joins there.
      await store.setAllocated(b, true)
      expect(await beside(b)).toEqual({ [join]: -1 })
      for (const id of [a, b, join]) await store.removeBox(id)
    })

    test('attack 228: so does all of it where a cohort is the whole fleet', async () => {
      await store.putBox(entry(a))
      const mates = Array.from({ length: 40 }, (_, i) => `m${i}`)
      await store.addJob(job(a, { round: n }))
      const earned = finishOf(await only(a), owner)
      await store.finishJob({ ...earned, box: { ...earned.box, owes: mates, missed: 1 } })
      const missed = [{ boxId: a, mates: ['m3', 'p', 'q'], cohortSize: 256, away: true, strangers: [] }]
      await store.openRound({ number: 9_800_000 + n, height: null, jobs: [], missed })
      expect((await store.box(a))!.owes).toEqual([...mates, 'p', 'q'])
      await store.removeBox(a)
    })

    test('attack 210: who is rented before the window of a large cohort owes eight of it, and one that owes it a window', async () => {
      const ids = Array.from({ length: 24 }, (_, i) => `sample-${n}-${i}`)
      for (const id of ids) await store.putBox(entry(id))
      const [owing, fallen] = ids as [string, string]
      const rented = ids.slice(2, 14)
      const isOwed = (id: string) => rented.indexOf(id) % 2 === 0
      const beside = { ...Object.fromEntries(rented.map((id) => [id, isOwed(id) ? 100 : 79])), [owing]: 100 }
      for (const [id, state] of [[owing, { owes: rented.filter(isOwed) }] as const, [fallen, { beside }] as const]) {
        await store.addJob(job(id, { round: n }))
        const earned = finishOf(await only(id), owner)
        await store.finishJob({ ...earned, box: { ...earned.box, ...state } })
      }
      const owed = new Set<string>()
      for (const [i, id] of rented.entries()) {
        const round = 9_900_000 + 100 * n + i
        await store.openRound({ number: round, height: null, jobs: ids.map((boxId) => job(boxId, { round })) })
        await store.setAllocated(id, true)
        const { owes } = (await store.box(id))!
        expect([owes.length, new Set(owes).size, owes.includes(id)]).toEqual([8, 8, false])
        expect(owes).toContain(isOwed(id) ? owing : fallen)
        for (const mate of owes) owed.add(mate)
        await store.setAllocated(id, false)
      }
      expect(owed.size).toBeGreaterThan(16)
      for (const id of ids) await store.removeBox(id)
    })

    test('jobs that stand in no cohort have a lane of their own', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      await store.addJob(job(a, { round: n, kind: 'light' }))
      await store.addJob(job(b, { round: n, cohort: 0 }))
      const lanes = [
        await store.takeJobs({ ...claim, single: false }),
        await store.takeJobs({ ...claim, single: true }),
      ]
      expect(lanes.map((jobs) => jobs.map(({ boxId }) => boxId))).toEqual([[b], [a]])
      await store.finishJob(finishOf(lanes[0]![0]!, owner))
      await store.addJob(job(b, { round: n + 1, reason: 'asked', cohort: -1 }))
      expect(await store.takeJobs({ ...claim, single: false })).toEqual([])
      const [asked] = await store.takeJobs({ ...claim, single: true })
      expect(asked).toMatchObject({ boxId: b, reason: 'asked' })
      for (const one of [lanes[1]![0]!, asked!]) await store.finishJob(finishOf(one, owner))
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 229: a box that moves in mid-run has met its cohort, or missed it, all the same', async () => {
      await store.putBox(entry(a))
      await store.addJob(job(a, { round: n }))
      const running = await only(a)
      await store.putBox(entry(a, { claim: 'T4' }))
      const earned = finishOf(running, owner)
      await store.finishJob({ ...earned, box: { ...earned.box, owes: [b], beside: { [b]: 5 }, missed: 1 } })
      expect(await store.box(a)).toMatchObject({ score: 0, status: 'new', owes: [b], beside: { [b]: 5 }, missed: 1 })
      await store.removeBox(a)
    })

    test('attack 211: a box that was taken out of the fleet comes back without a score, and owes what it owed', async () => {
      await store.putBox(entry(a))
      await store.addJob(job(a, { round: n }))
      const earned = finishOf(await only(a), owner)
      await store.finishJob({ ...earned, box: { ...earned.box, owes: [b], missed: 1 } })
      await store.putBox(entry(a))
      expect(await store.box(a)).toMatchObject({ status: 'verified', score: 100 })
      await store.removeBox(a)
      await store.putBox(entry(a))
      expect(await store.box(a)).toMatchObject({ status: 'new', score: 0, scoredAt: null, owes: [b], missed: 1 })
      await store.removeBox(a)
    })

    test('attack 142: a chip that attested for one box does so for another only when that one lives on it no longer', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const taken = (boxId: string, round: number) => store.takeChips({ round, boxId, chips: [`chip-${n}`] })
      const round = 10_000 * n
      await store.addJob(job(a, { round }))
      await store.finishJob(finishOf(await only(a), owner))
      expect(await taken(a, round)).toEqual([])
      // In turns: each is busy in every second round, and holds what it earned in the one before.
      expect(await taken(b, round + 1)).toEqual([a])
      expect(await taken(a, round + 2)).toEqual([])
      expect(await taken(b, round + 3)).toEqual([a])
      await store.removeBox(a)
      expect(await taken(b, round + 4)).toEqual([])
      await store.removeBox(b)
    })

    test('attack 160: who borrows a chip, and is paid as not attested, takes it from nobody', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const taken = (boxId: string, round: number) => store.takeChips({ round, boxId, chips: [`chip-${n}`] })
      const round = 10_000 * n
      for (const id of [a, b]) {
        await store.addJob(job(id, { round }))
        await store.finishJob(finishOf(await only(id), owner))
      }
      expect(await taken(a, round)).toEqual([])
      // A tenant of one box has its chip sign for his own: in the round, before its owner comes.
      expect(await taken(b, round + 1)).toEqual([a])
      for (const later of [1, 2, 8]) expect(await taken(a, round + later)).toEqual([])
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('many claimers at once never share a job', async () => {
      const ids = Array.from({ length: 40 }, (_, i) => `many-${n}-${i}`)
      for (const id of ids) await store.putBox(entry(id))
      const number = 1_000_000 + n
      await store.openRound({ number, height: null, jobs: ids.map((id) => job(id, { round: number })) })
      const taken = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store.takeJobs({ owner: `v${i}`, holdMs: 60_000, limit: 4 })),
      )
      const boxes = taken.flat().map(({ boxId }) => boxId)
      expect(new Set(boxes).size).toBe(boxes.length)
      const rest = await store.takeJobs({ owner: 'rest', holdMs: 60_000, limit: 100 })
      expect([...boxes, ...rest.map(({ boxId }) => boxId)].sort()).toEqual([...ids].sort())
      await store.releaseJobs(null)
      for (const id of ids) await store.removeBox(id)
    })

    test('a nonce is good once', async () => {
      expect(await store.useNonce(`nonce-${n}`, 60_000)).toBe(true)
      expect(await store.useNonce(`nonce-${n}`, 60_000)).toBe(false)
      expect(await store.useNonce(`nonce-${n}`, -60_000)).toBe(true)
    })

    test('retention drops old results and certificates, never the latest of a box nor a rejected one early', async () => {
      await store.putBox(entry(a))
      const ids: number[] = []
      for (const reason of ['round', 'asked', 'changed'] as const) {
        await store.addJob(job(a, { round: n, reason }))
        const leased = await only(a)
        const outcome = reason === 'asked' ? 'rejected' : 'accepted'
        const result = resultOf({ outcome, runId: `r${n}${reason}`, certificate: 'text' })
        ids.push((await store.finishJob(finishOf(leased, owner, { result })))!)
      }
      await store.retain({ resultDays: 1, certificateDays: -1 })
      expect(await store.certificate(`r${n}round`)).toBeNull()
      expect(await store.certificate(`r${n}asked`)).toBe('text')
      expect(await store.certificate(`r${n}changed`)).toBe('text')
      expect((await store.history(a, all)).items).toHaveLength(3)
      await store.retain({ resultDays: -1, certificateDays: -1 })
      expect((await store.history(a, all)).items.map(({ id }) => id)).toEqual([ids[2]])
      await store.removeBox(a)
    })

    test('what each box stands at is its score and the hash of the certificate that earned it', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      await store.addJob(job(a, { round: n }))
      const certificate = 'é'.repeat(100)
      const result = resultOf({ runId: `stand${n}`, certificate })
      await store.finishJob(finishOf(await only(a), owner, { result }))
      const own = (await store.standings()).filter(({ id }) => id === a || id === b)
      const hash = createHash('sha256').update(certificate).digest('hex')
      expect(own).toEqual([
        { id: a, score: 100, scoredAt: (await store.box(a))!.scoredAt, certificate: hash },
        { id: b, score: 0, scoredAt: null, certificate: null },
      ])
      for (const id of [a, b]) await store.removeBox(id)
      expect((await store.standings()).filter(({ id }) => id === a)).toEqual([])
    })

    test('a closed round is kept as it was signed, handed out oldest first when it is due, and ends once', async () => {
      const [one, two] = [madeUpRound(n), madeUpRound(n + 1)]
      const { validator } = one
      expect(await store.keptRound(validator, n)).toBeNull()
      expect([await store.keepRound(two), await store.keepRound(one)]).toEqual([true, true])
      expect(await store.keepRound(madeUpRound(n, 2))).toBe(false)
      expect(await store.dueRound('another')).toBeNull()
      expect(await store.dueRound(validator)).toEqual({ record: one, state: 'waiting', tries: 0, said: null })
      await store.noteRound(one, { state: 'waiting', said: 'AWAY', retryInMs: 3_600_000 })
      // The one after it waits for it.
      expect(await store.dueRound(validator)).toBeNull()
      expect(await store.keptRound(validator, n)).toMatchObject({ tries: 1, said: 'AWAY' })
      await store.noteRound(one, { state: 'waiting', said: 'sent', retryInMs: 0 })
      await store.noteRound(one, { state: 'published', said: 'here', retryInMs: null })
      await store.noteRound(one, { state: 'refused', said: 'late', retryInMs: null })
      expect(await store.keptRound(validator, n)).toEqual({ record: one, state: 'published', tries: 3, said: 'here' })
      expect((await store.dueRound(validator))?.record).toEqual(two)
      await store.noteRound(two, { state: 'refused', said: 'no', retryInMs: null })
      expect(await store.dueRound(validator)).toBeNull()
      expect((await store.keptRound(validator, null))?.record).toEqual(two)
    })

    test('a dump restores into an empty store, and only there; times of a clock since set back hold nothing up', async () => {
      for (const id of [a, b]) await store.putBox(entry(id, { claim: id === b ? 'L4' : null }))
      await store.addJob(job(b, { round: n }))
      const identities = [
        { status: 'identified', model: 'L4' },
        { status: 'unknown', model: null },
        { status: 'cpu', model: null },
      ]
      const devices = identities.map((identity) => ({ identity }))
      const judgement = { claim: { text: 'L4', verdict: 'weaker' }, devices }
      await store.finishJob(finishOf(await only(b), owner, { result: resultOf({ judgement }) }))
      const last = { outcome: 'accepted', code: null, at: expect.stringMatching(/^\d{4}-.*T.*\.\d{3}Z$/) }
      expect(await store.box(b)).toMatchObject({ models: ['L4', null, 'CPU'], last })
      expect(await store.box(a)).toMatchObject({ models: [], last: null })
      await store.addJob(job(a, { round: n }))
      const result = resultOf({ runId: `dump${n}`, certificate: 'é'.repeat(1000), inventory })
      await store.finishJob(finishOf(await only(a), owner, { result }))
      const number = 2_000_000 + n
      await store.openRound({ number, height: null, jobs: [job(a, { round: number }), job(b, { round: number })] })
      const [held] = await store.takeJobs({ ...claim, limit: 1 })
      const lines: string[] = []
      const rows = await store.dump(async (line) => void lines.push(line))
      expect(lines).toHaveLength(rows + 1)
      const from = async function* (kept: readonly string[]) {
        yield* kept
      }
      await expect(store.load(from(lines))).rejects.toMatchObject({ detail: { code: 'STORE_NOT_EMPTY' } })
      // Rounds and jobs as a clock that was a day ahead would have written them.
      const dayLater = (_: string, time: string) =>
        JSON.stringify(new Date(Date.parse(time) + 86_400_000).toISOString())
      // And all of it as it was before a claim's verdict had a column.
      const ahead = lines
        .map((line) => line.replace(/,"claim_verdict":(null|"[^"]*")/, ''))
        // One of them as it was before scores had rules.
        .map((line) =>
          line.includes(`"id":"${a}"`)
            ? line.replace(/"(score_rules|moves|owes|missed|stalls|rest_until)":[^,}]+,?/g, '').replace(/,}/, '}')
            : line,
        )
        .map((line) =>
          /^{"table":"(rounds|jobs)"/.test(line) ? line.replace(/"(\d{4}-\d\d-\d\dT[^"]+)"/g, dayLater) : line,
        )
      expect(ahead.join()).not.toContain('claim_verdict')
      const other = await under.open()
      try {
        await expect(other.load(from(['{"format":"else"}']))).rejects.toMatchObject({
          detail: { code: 'NOT_A_BACKUP' },
        })
        await expect(other.load(from([lines[0]!, '{"ta']))).rejects.toMatchObject({ detail: { code: 'NOT_A_BACKUP' } })
        expect(await other.load(from(ahead))).toBe(rows)
        const unscored = { status: 'new', score: 0, scoredAt: null }
        expect(await other.box(a)).toEqual({ ...(await store.box(a)), ...unscored })
        expect(await other.history(a, all)).toEqual(await store.history(a, all))
        expect(await other.certificate(`dump${n}`)).toBe('é'.repeat(1000))
        expect(await other.roundDue(3_600_000)).toBe(true)
        const taken = await other.takeJobs({ owner: 'another', holdMs: 60_000, limit: 100 })
        expect(taken.map(({ boxId }) => boxId)).toEqual(expect.arrayContaining([a, b]))
        expect(await other.box(b)).toMatchObject({ status: 'claim-unmet', claimVerdict: 'weaker' })
        expect(await other.finishJob(finishOf(held!, owner))).toBeNull()
        expect(await other.addJob(job(b, { round: n, reason: 'asked' }))).toBe(true)
      } finally {
        await other.close()
      }
    })
  })
}
