import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ClaimAnswer } from '../../src/core/identify/claimReasons.ts'
import { claimed } from '../../src/core/params/provenance.ts'
import { nextBoxState, type Outcome } from '../../src/core/schedule/boxState.ts'
import type { BoxFilter, Finish, Store, TakenJob } from '../../src/ports/store.ts'
import { madeUpRound } from '../support/madeUpRounds.ts'
import { olderStore, SHOWN_BEFORE_KEYS, SHOWN_SINCE, SHOWN_SINCE_DELETED } from '../support/olderStore.ts'
import { entry, failedBox, finishOf, job, resultOf } from '../support/storeFixtures.ts'
import { textOf } from '../support/textOf.ts'

export interface StoreUnderTest {
  /** An empty store, or one in whose empty database so much was done before. */
  open(older?: readonly string[]): Promise<Store>
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

async function* from(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

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
      expect(await store.finishJob(finishOf(theirs, 'b'))).toMatchObject({ isOfBox: true })
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
      const { id } = (await store.finishJob(finishOf(leased, owner, { result, followUps })))!
      expect(await textOf(await store.certificate(runId))).toBe(certificate)
      expect(await textOf(await store.certificate('00'))).toBeNull()
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
      const taken = (boxId: string, round: number, ...chips: string[]) =>
        store.takeChips({ round, keptRounds: 8, boxId, chips, isNoted: true })
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

    test('attack 250: a certificate comes in small pieces, however large it is', async () => {
      await store.putBox(entry(a))
      await store.addJob(job(a, { round: n }))
      const certificate = randomBytes(1_000_000).toString('base64')
      const runId = `${n}`.padStart(32, 'e')
      await store.finishJob(finishOf(await only(a), owner, { result: resultOf({ runId, certificate }) }))
      const pieces: Uint8Array[] = []
      for await (const piece of (await store.certificate(runId))!) pieces.push(piece)
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(65_536)
      expect(Buffer.concat(pieces).toString()).toBe(certificate)
    })

    test('a claim’s verdict is a column of the box and of its results, and belongs to that claim alone', async () => {
      const provider = `p${n}`
      await store.putBox(entry(a, { provider, claim: 'H100 SXM' }))
      await store.putBox(entry(b, { provider, claim: 'H100 SXM' }))
      const finish = async (boxId: string, round: number, more: Partial<Finish>) => {
        await store.addJob(job(boxId, { round }))
        const stored = await store.finishJob(finishOf(await only(boxId), owner, more))
        return (await store.result(stored!.id))!
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
      const low = { scored: false, terms }
      expect(await finish(n + 1000, { ...low, atMost: 60 })).toMatchObject({ score: 60, terms, scoredAt })
      expect(await finish(n + 2000, { ...low, atMost: 80, terms: [] })).toMatchObject({ score: 60, terms, scoredAt })
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

    test('attacks 78 and 359: score, terms and history of acceptance end with the address, the claim and the provider they were earned under', async () => {
      const claimed = entry(a, { claim: 'L4' })
      const terms = [{ name: 'gpu', points: 100, got: 1, full: 1 }]
      const earned = { ...finishOf({} as TakenJob, owner).box, terms }
      const none = { score: 0, terms: [], scoredAt: null, verifiedTotal: 0, claimVerdict: null, inventory: null }
      const finish = async (round: number, more: Partial<Finish>, between = async (): Promise<unknown> => null) => {
        await store.addJob(job(a, { round }))
        const running = await only(a)
        await between()
        const stored = await store.finishJob(finishOf(running, owner, more))
        expect(await store.result(stored!.id)).toMatchObject({ provider: running.box.provider })
        return await store.box(a)
      }
      const accepted = { result: resultOf({ claimVerdict: 'matches', inventory }), box: earned }
      const unscored = { result: resultOf({ outcome: 'fault' }), box: { ...earned, scored: false } }
      const rejected = { result: resultOf({ outcome: 'rejected', code: 'LATE_ROOT' }), box: failedBox }
      const ways = [
        { ...claimed, claim: 'H200 SXM' },
        { ...claimed, address: 'ssh://root@elsewhere:22' },
        { ...claimed, provider: `other-${n}` },
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

    test('attack 77: a cohort is taken whole; who is taken later stands in another window, and after the end in none', async () => {
      const ids = Array.from({ length: 3 }, (_, i) => `cohort-${n}-${i}`)
      for (const id of ids) await store.putBox(entry(id))
      const number = 3_000_000 + n
      const jobs = [...ids.map((id) => job(id, { round: number })), job(ids[0]!, { round: number, kind: 'light' })]
      await store.openRound({ number, height: null, jobs: jobs.slice(0, 3) })
      expect(await store.takeJobs({ ...claim, limit: 2, places: 3 })).toEqual([])
      const take = () => store.takeJobs({ ...claim, limit: 3, places: 3 })
      const told = (taken: readonly TakenJob[]) => taken.map(({ boxId, window }) => [boxId, window])
      const taken = await take()
      expect(told(taken)).toEqual(ids.map((id) => [id, 1]))
      // All of them again, as after a restart; but for one that has failed meanwhile.
      await store.finishJob(finishOf(taken[0]!, owner, { result: resultOf({ outcome: 'rejected' }), box: failedBox }))
      await store.releaseJobs(owner)
      const [second, third] = await take()
      expect(told([second!, third!])).toEqual(ids.slice(1).map((id) => [id, 2]))
      await store.finishJob(finishOf(second!, owner))
      expect([await store.settle(number, 1), await store.settle(number, null)]).toEqual([0, 0])
      expect(await store.settle(number, 2)).toBe(1)
      await store.releaseJobs(owner)
      const late = await take()
      expect(told(late)).toEqual([[ids[2], null]])
      await store.finishJob(finishOf(late[0]!, owner))
      for (const id of ids) await store.removeBox(id)
    })

    test('attack 242: who keeps us waiting, or was asked for, stands in no window and begins none', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const number = 3_500_000 + n
      await store.addJob(job(a, { round: n }))
      await store.finishJob(finishOf(await only(a), owner, { box: { ...failedBox, stalls: 1 } }))
      await store.openRound({ number, height: null, jobs: [a, b].map((id) => job(id, { round: number })) })
      const [slow] = await store.takeJobs({ ...claim, stalled: true })
      expect(slow).toMatchObject({ boxId: a, window: null })
      const [prompt] = await store.takeJobs({ ...claim, stalled: false })
      expect(prompt).toMatchObject({ boxId: b, window: 1 })
      for (const one of [slow!, prompt!]) await store.finishJob(finishOf(one, owner))
      await store.addJob(job(b, { round: number, reason: 'asked' }))
      expect(await only(b)).toMatchObject({ window: null })
      await store.releaseJobs(owner)
      for (const id of [a, b]) await store.removeBox(id)
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

    test('attack 77, 79: what a box missed and kept waiting is remembered; it rests, and has a lane of its own', async () => {
      await store.putBox(entry(a))
      const state = { missed: 1, stalls: 2, restMs: 3_600_000 }
      await store.addJob(job(a, { round: n }))
      await store.finishJob(finishOf(await only(a), owner, { box: { ...failedBox, ...state } }))
      expect(await store.box(a)).toMatchObject({ missed: 1, stalls: 2 })
      const planned = (await store.fleet()).find(({ id }) => id === a)
      expect(planned).toMatchObject({ id: a, allocated: false, score: 0, stalls: 2, rests: true })
      await store.addJob(job(a, { round: n + 1 }))
      expect(await store.takeJobs(claim)).toEqual([])
      await store.addJob(job(a, { round: n + 2, reason: 'asked' }))
      expect(await store.takeJobs({ ...claim, stalled: false })).toEqual([])
      const [asked] = await store.takeJobs({ ...claim, stalled: true })
      expect(asked).toMatchObject({ reason: 'asked', box: { missed: 1, stalls: 2 } })
      await store.finishJob(finishOf(asked!, owner))
      expect(await store.takeJobs({ ...claim, stalled: true })).toEqual([])
      const [rested] = await store.takeJobs({ ...claim, stalled: false })
      expect(rested).toMatchObject({ boxId: a, round: n + 1 })
      await store.finishJob(finishOf(rested!, owner))
      await store.removeBox(a)
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
      // Rented after a round was planned, and before it is opened.
      await store.openRound({ number: number + 1, height: null, jobs: ids.map((id) => job(id, { round: number + 1 })) })
      expect(await store.queue()).toMatchObject({ waiting: 0, held: 0 })
      await store.addJob(job(ids[0]!, { round: number, kind: 'light' }))
      expect(await only(ids[0]!)).toMatchObject({ kind: 'light' })
      await store.releaseJobs(owner)
      for (const id of ids) await store.removeBox(id)
    })

    test('attack 303: who is rented or removed in mid-window is left alone when its validator is gone, and holds nobody up', async () => {
      const ids = [0, 1, 2, 3].map((i) => `left-${n}-${i}`)
      const round = 5_500_000 + n
      const begin = async (number: number, holdMs: number) => {
        for (const id of ids) await store.putBox(entry(id))
        await store.openRound({ number, height: null, jobs: ids.map((id) => job(id, { round: number })) })
        const taken = await store.takeJobs({ ...claim, holdMs })
        await store.setAllocated(ids[0]!, true)
        await store.removeBox(ids[1]!)
        return taken
      }
      const told = (taken: readonly TakenJob[]) => taken.map(({ boxId, window }) => [boxId, window])
      const next = { ...claim, owner: 'validator-b' }
      // Whose lease ran out; and who was put back by a stop, one of them in a light look since.
      await begin(round, 0)
      const over = await store.takeJobs(next)
      expect(told(over)).toEqual(ids.slice(2).map((id) => [id, 2]))
      for (const one of over) await store.finishJob(finishOf(one, 'validator-b'))
      expect(await store.lastRound()).toMatchObject({ jobs: 4, done: 4 })
      expect(await store.settle(round, null)).toBe(2)
      const [, , earned] = await begin(round + 1, 60_000)
      await store.finishJob(finishOf(earned!, owner))
      await store.releaseJobs(owner)
      await store.addJob(job(ids[0]!, { round: round + 1, kind: 'light', delayMs: -60_000 }))
      // One has earned and one is left: the window is not begun anew for that one (attack 255).
      expect(told(await store.takeJobs({ ...next, single: false }))).toEqual([[ids[3], null]])
      expect(await store.takeJobs({ ...next, single: true })).toMatchObject([{ boxId: ids[0], kind: 'light' }])
      expect(await store.lastRound()).toMatchObject({ jobs: 5, done: 3 })
      expect(await store.settle(round + 1, null)).toBe(1)
      // Asked for in the moment in which it is rented.
      await store.releaseJobs('validator-b')
      await store.addJob(job(ids[0]!, { round: round + 1, reason: 'asked', cohort: -1 }))
      expect((await store.takeJobs(claim)).map(({ kind }) => kind).sort()).toEqual(['full', 'light'])
      expect(await store.queue()).toMatchObject({ waiting: 0, held: 2 })
      await store.releaseJobs(owner)
      for (const id of ids) await store.removeBox(id)
    })

    test('attacks 229 and 242: what is earned in a window counts when it is over, and what was earned before it no longer', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      let round = 20_000_000 + 100 * n
      const open = () =>
        store.openRound({ number: ++round, height: null, jobs: [a, b].map((id) => job(id, { round })) })
      const stand = async () => {
        const standings = new Map((await store.standings()).map((one) => [one.id, one]))
        return await Promise.all(
          [a, b].map(async (id) => {
            const { score, current } = (await store.box(id))!
            expect(standings.get(id)).toMatchObject({ score, current })
            return [score, current]
          }),
        )
      }
      const busy = { result: resultOf({ outcome: 'busy' }), box: { ...failedBox, scored: false, failed: false } }
      const end = async (ways: readonly Partial<Finish>[]) => {
        await open()
        const taken = await store.takeJobs(claim)
        for (const [i, more] of ways.entries()) await store.finishJob(finishOf(taken[i]!, owner, more))
        return taken[0]!.window
      }
      const settled = async (ways: readonly Partial<Finish>[]) => {
        const window = await end(ways)
        return await store.settle(round, window)
      }
      const window = await end([{}, {}])
      expect(await store.lastRound()).toMatchObject({ settled: false, done: 2 })
      expect(await stand()).toEqual([
        [0, true],
        [0, true],
      ])
      expect(await store.settle(round, window)).toBe(2)
      expect(await store.lastRound()).toMatchObject({ settled: true })
      expect(await store.settle(round, window)).toBe(0)
      const both = [
        [100, true],
        [100, true],
      ]
      expect(await stand()).toEqual(both)
      expect((await store.specs('alice', all)).items.find(({ boxId }) => boxId === a)).toMatchObject({ current: true })
      // A round in which nobody earns takes nothing, nor does one in which what is earned is nothing.
      expect(await settled([busy, busy])).toBe(0)
      const nothing = { box: { ...finishOf({} as TakenJob, owner).box, score: 0 } }
      expect(await settled([busy, nothing])).toBe(1)
      expect(await stand()).toEqual([both[0], [0, true]])
      await end([busy, {}])
      expect(await stand()).toEqual([both[0], [0, true]])
      // As a validator does that comes after one that ended before it had said so.
      expect(await store.settle(round, null)).toBe(1)
      expect(await stand()).toEqual([
        [100, false],
        [100, true],
      ])
      // Who has moved, or is gone, when it is over has earned nothing there.
      const later = await end([{}, {}])
      await store.putBox(entry(a, { claim: 'T4' }))
      await store.removeBox(b)
      await store.putBox(entry(b))
      expect(await store.settle(round, later)).toBe(0)
      expect((await stand()).map(([score]) => score)).toEqual([0, 0])
      // Who fails in between has lost it.
      expect(await settled([{}, {}])).toBe(2)
      await end([{}, {}])
      await store.addJob(job(a, { round, reason: 'asked' }))
      const rejected = { result: resultOf({ outcome: 'rejected' }), box: failedBox }
      await store.finishJob(finishOf(await only(a), owner, rejected))
      expect(await store.settle(round, null)).toBe(1)
      expect((await stand()).map(([score]) => score)).toEqual([0, 100])
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attacks 286, 287 and 305: what was earned alone in a round counts neither beside a window of it nor in a sum', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const round = 20_000_000 + 100 * n
      const jobs = [job(a, { round, cohort: -1 }), job(b, { round })]
      await store.openRound({ number: round, height: null, jobs })
      const name = `speed of ${n}`
      const counted = async () => (await store.statistics()).figures.filter((figure) => figure.name === name)
      const shown = (value: number) => ({ result: resultOf({ figures: [{ device: 0, name, value }] }) })
      const [alone, inWindow] = await store.takeJobs(claim)
      await store.finishJob(finishOf(alone!, owner, shown(7)))
      expect(await store.box(a)).toMatchObject({ score: 100, current: true })
      expect(await counted()).toMatchObject([{ boxes: 1, sum: 7 }])
      await store.finishJob(finishOf(inWindow!, owner, shown(5)))
      // Attack 305: what a run has given its box is told when it has, and a box tells which window it is from.
      const lastGave = async () => (await store.history(b, all)).items[0]!.score
      expect(await lastGave()).toBeNull()
      expect(await store.settle(round, inWindow!.window)).toBe(1)
      expect(await lastGave()).toBe(100)
      expect(await store.box(a)).toMatchObject({ score: 100, current: false, since: round - 1 })
      expect(await store.box(b)).toMatchObject({ score: 100, current: true, since: round })
      expect(await counted()).toMatchObject([{ boxes: 1, sum: 5 }])
      await store.addJob(job(b, { round, kind: 'light' }))
      await store.finishJob(finishOf(await only(b), owner, { box: { ...finishOf(alone!, owner).box, scored: false } }))
      expect(await lastGave()).toBeNull()
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 384: a run whose box was changed meanwhile ends no score of others', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const round = 20_050_000 + 100 * n
      const begin = async (number: number, id: string) => {
        await store.openRound({ number, height: null, jobs: [job(id, { round: number })] })
        return (await store.takeJobs(claim))[0]!
      }
      const inWindow = await begin(round, a)
      await store.finishJob(finishOf(inWindow, owner))
      await store.settle(round, inWindow.window)
      for (const [number, change] of [
        [round + 1, () => store.putBox(entry(b, { address: `ssh://root@moved-${n}:22` }))],
        [round + 2, () => store.removeBox(b)],
      ] as const) {
        // As in a fleet without windows from now on.
        const running = { ...(await begin(number, b)), window: null }
        await change()
        expect(await store.finishJob(finishOf(running, owner))).toMatchObject({ isOfBox: number === round + 2 })
        expect(await store.box(a)).toMatchObject({ score: 100, current: true })
      }
      await store.removeBox(a)
    })

    test('attack 324: what a proof apart does not show is lost, whenever the window of its box ends', async () => {
      for (const id of [a, b]) await store.putBox(entry(id, { claim: 'L4' }))
      let round = 20_100_000 + 100 * n
      const judgement = (model: string) => ({ devices: [{ identity: { model } }] })
      const terms = [{ name: 'gpu', points: 10, got: 1, full: 1 }]
      const begin = async () => {
        round++
        await store.openRound({ number: round, height: null, jobs: [a, b].map((id) => job(id, { round })) })
        return await store.takeJobs({ ...claim, single: false })
      }
      const earn = (taken: TakenJob) =>
        store.finishJob(
          finishOf(taken, owner, { result: resultOf({ claimVerdict: 'matches', judgement: judgement('L4') }) }),
        )
      const ask = async () => {
        await store.addJob(job(a, { round, reason: 'asked', cohort: -1 }))
        return await only(a)
      }
      const show = (taken: TakenJob, atMost: number, claimVerdict: 'different' | 'matches', model: string) => {
        const box = { ...finishOf(taken, owner).box, score: 0, scored: false, atMost, terms }
        const status = claimVerdict === 'matches' ? ('verified' as const) : ('claim-unmet' as const)
        const result = resultOf({ claimVerdict, judgement: judgement(model) })
        return store.finishJob(finishOf(taken, owner, { box: { ...box, status }, result }))
      }
      const gave = async () => (await store.history(a, all)).items.slice(0, 2).map(({ score }) => score)
      const fallen = { score: 10, terms, claimVerdict: 'different', models: ['T4'], current: true }
      // Shown before the end, by a newcomer; and by one that holds a score besides.
      for (const points of [null, 10]) {
        const [first, second] = await begin()
        await earn(first!)
        await show(await ask(), 10, 'different', 'T4')
        await earn(second!)
        expect(await store.settle(round, first!.window)).toBe(2)
        expect(await store.box(a)).toMatchObject({ ...fallen, status: 'claim-unmet', since: round })
        expect(await store.box(b)).toMatchObject({ score: 100, claimVerdict: 'matches', current: true })
        expect(await gave()).toEqual([points, 10])
        const [again, other] = await begin()
        for (const one of [again!, other!]) await earn(one)
        expect(await store.settle(round, again!.window)).toBe(2)
        expect(await store.box(a)).toMatchObject({ score: 100, claimVerdict: 'matches' })
      }
      // Taken before the end, and shown after it: more than before does nothing, and a claim is not met by it.
      const [first, second] = await begin()
      await earn(first!)
      const running = await ask()
      await earn(second!)
      await store.settle(round, first!.window)
      const { scoredAt } = (await store.box(a))!
      await show(running, 10, 'different', 'T4')
      expect(await store.box(a)).toMatchObject({ ...fallen, scoredAt })
      expect(await gave()).toEqual([10, 100])
      await store.addJob(job(a, { round, reason: 'changed', cohort: -1 }))
      await show(await only(a), 50, 'matches', 'L4')
      expect(await store.box(a)).toMatchObject({ ...fallen, models: ['L4'], scoredAt })
      expect(await gave()).toEqual([null, 10])
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 346: a run that missed its window finds a claim unmet, and never met', async () => {
      await store.putBox(entry(a, { claim: 'H100 SXM' }))
      const earned = { kind: 'full', allocated: false, apart: false } as const
      const finish = async (round: number, outcome: Outcome, claimVerdict: ClaimAnswer, model: string) => {
        await store.addJob(job(a, { round }))
        const running = await only(a)
        const score = model === 'T4' ? 5 : 1000
        const next = nextBoxState(running.box, outcome, { ...earned, score, claimVerdict }, { busyLimit: 3 })
        const judgement = { devices: [{ identity: { model } }] }
        const box = { ...next, terms: [], stalls: 0, restMs: null }
        await store.finishJob(finishOf(running, owner, { result: resultOf({ outcome, claimVerdict, judgement }), box }))
        return await store.box(a)
      }
      await finish(n, 'accepted', 'matches', 'H100 SXM')
      const weaker = { status: 'claim-unmet', claimVerdict: 'weaker', models: ['T4'], score: 5 }
      expect(await finish(n + 1000, 'void', 'weaker', 'T4')).toMatchObject(weaker)
      // The second in a row is a failure, and takes the verdict.
      expect(await finish(n + 2000, 'void', 'matches', 'H100 SXM')).toMatchObject({
        status: 'failed',
        claimVerdict: null,
      })
      await finish(n + 3000, 'accepted', 'weaker', 'T4')
      const met = await finish(n + 4000, 'void', 'matches', 'H100 SXM')
      expect(met).toMatchObject({ ...weaker, models: ['H100 SXM'] })
      await store.removeBox(a)
    })

    test('attack 325: a rent of a moment does not end what was asked for, nor what follows a change', async () => {
      await store.putBox(entry(a))
      const round = 20_200_000 + 100 * n
      const asked = job(a, { round, reason: 'asked', cohort: -1 })
      const changed = job(a, { round, reason: 'changed', cohort: -1 })
      await store.openRound({ number: round, height: null, jobs: [job(a, { round })] })
      await store.addJob(asked)
      await store.setAllocated(a, true)
      expect(await store.takeJobs(claim)).toEqual([])
      await store.setAllocated(a, false)
      // The window does not come back, or it would be one of its own.
      const [taken, ...more] = await store.takeJobs(claim)
      expect([taken?.reason, more]).toEqual(['asked', []])
      expect(await store.addJob(asked)).toBe(false)
      await store.finishJob(finishOf(taken!, owner))
      await store.setAllocated(a, false)
      expect(await store.queue()).toMatchObject({ waiting: 0, held: 0 })
      // What a look finds while the box is rented, or was rented meanwhile, is proven when the rent is over.
      await store.addJob(job(a, { round, kind: 'light', reason: 'probe' }))
      const look = await only(a)
      await store.setAllocated(a, true)
      await store.finishJob(finishOf(look, owner, { followUps: [changed] }))
      expect(await store.queue()).toMatchObject({ waiting: 0 })
      await store.putBox(entry(a))
      expect(await only(a)).toMatchObject({ reason: 'changed', kind: 'full' })
      await store.releaseJobs(owner)
      // Asked for anew it comes back too, and after a removal; what is of an earlier round does not.
      await store.setAllocated(a, true)
      expect(await store.queue()).toMatchObject({ waiting: 0 })
      expect(await store.addJob(changed)).toBe(true)
      await store.removeBox(a)
      await store.putBox(entry(a))
      expect(await store.addJob(changed)).toBe(true)
      await store.setAllocated(a, true)
      await store.openRound({ number: round + 1, height: null, jobs: [] })
      await store.setAllocated(a, false)
      expect(await store.queue()).toMatchObject({ waiting: 0, held: 0 })
      await store.removeBox(a)
    })

    test('attack 326: a score of a window and one that was earned alone after it do not count together', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      let round = 20_300_000 + 100 * n
      const begin = async (ids: readonly string[]) => {
        round++
        await store.openRound({ number: round, height: null, jobs: ids.map((id) => job(id, { round })) })
        return await store.takeJobs(claim)
      }
      const current = () => Promise.all([a, b].map(async (id) => (await store.box(id))!.current))
      const inWindow = async (ids: readonly string[]) => {
        const taken = await begin(ids)
        for (const one of taken) await store.finishJob(finishOf(one, owner))
        await store.settle(round, taken[0]!.window)
      }
      const alone = async (id: string) => {
        const [taken] = await begin([id])
        await store.finishJob(finishOf({ ...taken!, window: null }, owner))
      }
      await inWindow([a])
      await alone(b)
      expect(await current()).toEqual([false, true])
      // Without windows nothing is said about cards that boxes share.
      await alone(a)
      expect(await current()).toEqual([true, true])
      await inWindow([b])
      expect(await current()).toEqual([false, true])
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 327: a box that is put without a word about its rent stays as it is', async () => {
      const put = async (allocated: boolean | null) => {
        await store.putBox({ ...entry(a), allocated })
        return (await store.box(a))!.allocated
      }
      expect([await put(null), await put(true), await put(null), await put(false)]).toEqual([false, true, true, false])
      await put(true)
      await store.removeBox(a)
      expect(await put(null)).toBe(false)
      await store.removeBox(a)
    })

    test('attack 255: who dawdles in a window whose validator ends does not take it from those that are done', async () => {
      const ids = [0, 1, 2, 3, 4].map((i) => `box-${n}-${i}`)
      for (const id of ids) await store.putBox(entry(id))
      let round = 21_000_000 + 100 * n
      /** So many are done when their validator ends, and another takes what is left. */
      const takenOver = async (done: number, places = 10, score = 100) => {
        await store.openRound({ number: ++round, height: null, jobs: ids.map((id) => job(id, { round })) })
        const taken = await store.takeJobs({ ...claim, holdMs: 0 })
        for (const one of taken.slice(0, done))
          await store.finishJob(finishOf(one, owner, { box: { ...finishOf(one, '').box, score } }))
        return await store.takeJobs({ owner: 'validator-b', holdMs: 60_000, limit: places })
      }
      const end = async (jobs: readonly TakenJob[]) => {
        for (const one of jobs)
          await store.finishJob(
            finishOf(one, 'validator-b', { box: { ...finishOf(one, '').box, scored: one.window !== null } }),
          )
      }
      const counting = async () => {
        const standings = (await store.standings()).filter(({ id }) => ids.includes(id))
        return standings.filter(({ score, current }) => score > 0 && current).map(({ id }) => ids.indexOf(id))
      }
      const late = await takenOver(4)
      expect(late.map(({ window }) => window)).toEqual([null])
      // What they have earned counts at once, whatever becomes of the last one.
      expect(await store.settle(round, null)).toBe(4)
      await end(late)
      expect(await counting()).toEqual([0, 1, 2, 3])
      // Attack 387: those that are worth nothing have earned nothing.
      const beside = await takenOver(4, 10, 0)
      expect(beside.map(({ window }) => window)).toEqual([2])
      await end(beside)
      await store.settle(round, 2)
      // Where most are not done they begin anew.
      const most = await takenOver(2)
      expect(most.map(({ window }) => window)).toEqual([2, 2, 2])
      expect(await store.settle(round, null)).toBe(0)
      await end(most)
      expect(await store.settle(round, 2)).toBe(3)
      expect(await counting()).toEqual([2, 3, 4])
      // Who is taken when others are at it already has no part in it.
      const some = await takenOver(0, 3)
      const rest = await store.takeJobs({ owner: 'validator-b', holdMs: 60_000, limit: 10 })
      expect([some, rest].map((jobs) => jobs.map(({ window }) => window))).toEqual([
        [2, 2, 2],
        [null, null],
      ])
      await end([...some, ...rest])
      expect(await store.settle(round, 2)).toBe(3)
      expect(await counting()).toEqual([0, 1, 2])
      for (const id of ids) await store.removeBox(id)
    })

    test('attack 256: who leaves with what it has earned in a window does not keep its round open', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const round = 22_000_000 + n
      await store.openRound({ number: round, height: null, jobs: [a, b].map((id) => job(id, { round })) })
      const taken = await store.takeJobs(claim)
      for (const one of taken) await store.finishJob(finishOf(one, owner))
      await store.removeBox(a)
      expect(await store.lastRound()).toMatchObject({ settled: false, done: 2 })
      expect(await store.settle(round, taken[0]!.window)).toBe(1)
      expect(await store.lastRound()).toMatchObject({ settled: true, done: 2 })
      await store.removeBox(b)
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

    test('attacks 257 and 304: jobs of one that wait for a place do not keep a window waiting', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      for (const id of [a, b])
        await store.addJob(job(id, { round: n, reason: 'changed', cohort: -1, delayMs: -60_000 }))
      const [changed] = await store.takeJobs({ ...claim, limit: 1, single: true })
      for (const id of [a, b]) await store.addJob(job(id, { round: n, cohort: 0 }))
      // While one is under way it is waited for; attack 304: and no other is begun meanwhile.
      for (const lane of [{ single: false }, { single: true }, {}])
        expect(await store.takeJobs({ ...claim, ...lane })).toEqual([])
      await store.finishJob(finishOf(changed!, owner))
      const window = await store.takeJobs({ ...claim, single: false })
      expect(window.map(({ boxId, reason }) => [boxId, reason])).toEqual([a, b].map((id) => [id, 'round']))
      for (const one of window) await store.finishJob(finishOf(one, owner))
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 211: a box that was taken out of the fleet comes back without a score; what it missed stays', async () => {
      await store.putBox(entry(a))
      await store.addJob(job(a, { round: n }))
      const earned = finishOf(await only(a), owner)
      await store.finishJob({ ...earned, box: { ...earned.box, missed: 1 } })
      await store.putBox(entry(a))
      expect(await store.box(a)).toMatchObject({ status: 'verified', score: 100 })
      await store.removeBox(a)
      await store.putBox(entry(a))
      expect(await store.box(a)).toMatchObject({ status: 'new', score: 0, scoredAt: null, missed: 1 })
      await store.removeBox(a)
    })

    test('attack 463: a prover key is that of the box that signed with it first, until it moves, is removed or has another', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const taken = async (boxId: string, key: string, isSigned = true) =>
        store.takeKey({ boxId, key: `${key}-${n}`, isSigned, moves: (await store.box(boxId))!.moves })
      // Naming a key takes it from nobody; nor does a run that was begun before the box moved.
      expect(await taken(b, 'one', false)).toBeNull()
      await store.takeKey({ boxId: b, key: `one-${n}`, isSigned: true, moves: 99 })
      expect(await taken(a, 'one')).toBeNull()
      expect(await taken(b, 'one', false)).toBe(a)
      expect(await taken(b, 'one')).toBe(a)
      expect(await taken(a, 'one')).toBeNull()
      // Another claim is the same machine.
      await store.putBox(entry(a, { claim: '2x H100' }))
      expect(await taken(b, 'one')).toBe(a)
      await store.putBox(entry(a, { claim: '2x H100', address: `ssh://moved-${n}` }))
      expect(await taken(b, 'one')).toBeNull()
      expect(await taken(a, 'one')).toBe(b)
      expect(await taken(b, 'two')).toBeNull()
      expect(await taken(a, 'one')).toBeNull()
      await store.removeBox(a)
      expect(await taken(b, 'one')).toBeNull()
      await store.putBox(entry(a))
      expect(await taken(a, 'one')).toBe(b)
      // Two at once: one of them has it.
      const both = await Promise.all([taken(a, 'three'), taken(b, 'three')])
      expect(both.filter((other) => other === null)).toHaveLength(1)
      for (const id of [a, b]) await store.removeBox(id)
    })

    test('attack 142: a chip that attested for one box does so for another only when that one lives on it no longer', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      const taken = (boxId: string, round: number, more: { keptRounds?: number; isNoted?: boolean } = {}) =>
        store.takeChips({ round, boxId, chips: [`chip-${n}`], keptRounds: 8, isNoted: true, ...more })
      const round = 40_000_000 + 10_000 * n
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
      const taken = (boxId: string, round: number, more: { keptRounds?: number; isNoted?: boolean } = {}) =>
        store.takeChips({ round, boxId, chips: [`chip-${n}`], keptRounds: 8, isNoted: true, ...more })
      const round = 40_000_000 + 10_000 * n
      for (const id of [a, b]) {
        await store.addJob(job(id, { round }))
        await store.finishJob(finishOf(await only(id), owner))
      }
      expect(await taken(a, round)).toEqual([])
      // A tenant of one box has its chip sign for his own: in the round, before its owner comes.
      expect(await taken(b, round + 1)).toEqual([a])
      for (const later of [1, 2, 8]) expect(await taken(a, round + later)).toEqual([])
      // Nor does a run that earns nothing (attack 398).
      expect(await taken(b, round + 100, { isNoted: false })).toEqual([])
      expect(await taken(a, round + 100)).toEqual([])
      expect(await taken(b, round + 100, { isNoted: false })).toEqual([a])
      // Attack 410: a round that is opened meanwhile forgets nothing, nor does a box that leaves free its chip in that round.
      expect(await taken(b, round + 101, { keptRounds: 0, isNoted: false })).toEqual([])
      expect(await taken(b, round + 100, { keptRounds: 0 })).toEqual([a])
      // Where scores are for one window, a chip is a box's in that window and no longer.
      expect(await taken(b, round + 101, { keptRounds: 0 })).toEqual([])
      expect(await taken(a, round + 102, { keptRounds: 0 })).toEqual([])
      // In a fleet without windows a rented box keeps its chip for as long as the rent.
      await store.putBox(entry(a, { allocated: true }))
      expect(await taken(b, round + 115)).toEqual([a])
      await store.putBox(entry(a))
      expect(await taken(a, round + 116)).toEqual([])
      await store.removeBox(a)
      expect(await taken(b, round + 116)).toEqual([a])
      expect(await taken(b, round + 117)).toEqual([])
      await store.removeBox(b)
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
        ids.push((await store.finishJob(finishOf(leased, owner, { result })))!.id)
      }
      await store.retain({ resultDays: 1, certificateDays: -1 })
      expect(await textOf(await store.certificate(`r${n}round`))).toBeNull()
      expect(await textOf(await store.certificate(`r${n}asked`))).toBe('text')
      expect(await textOf(await store.certificate(`r${n}changed`))).toBe('text')
      expect((await store.history(a, all)).items).toHaveLength(3)
      await store.retain({ resultDays: -1, certificateDays: -1 })
      expect((await store.history(a, all)).items.map(({ id }) => id)).toEqual([ids[2]])
      await store.removeBox(a)
    })

    test('retention leaves what waits for the end of its window, with its certificate', async () => {
      await store.putBox(entry(a))
      const round = 29_000_000 + n
      await store.openRound({ number: round, height: null, jobs: [job(a, { round })] })
      const earned = await only(a)
      await store.finishJob(finishOf(earned, owner, { result: resultOf({ runId: `w${n}`, certificate: 'text' }) }))
      await store.addJob(job(a, { round, reason: 'asked' }))
      const box = { ...failedBox, status: 'busy', scored: false, failed: false } as const
      await store.finishJob(finishOf(await only(a), owner, { result: resultOf({ outcome: 'busy' }), box }))
      await store.retain({ resultDays: -1, certificateDays: -1 })
      await store.settle(round, earned.window)
      expect(await textOf(await store.certificate(`w${n}`))).toBe('text')
      await store.removeBox(a)
    })

    test('what each box stands at is its score and the hash of the certificate that earned it', async () => {
      for (const id of [a, b]) await store.putBox(entry(id))
      await store.addJob(job(a, { round: 30_000_000 + n }))
      const certificate = 'é'.repeat(100)
      const result = resultOf({ runId: `stand${n}`, certificate })
      await store.finishJob(finishOf(await only(a), owner, { result }))
      const own = (await store.standings()).filter(({ id }) => id === a || id === b)
      const hash = createHash('sha256').update(certificate).digest('hex')
      const held = { current: true }
      expect(own).toEqual([
        { id: a, score: 100, ...held, scoredAt: (await store.box(a))!.scoredAt, certificate: hash },
        { id: b, score: 0, ...held, scoredAt: null, certificate: null },
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

    test.each([
      [10, SHOWN_BEFORE_KEYS],
      [12, [...SHOWN_SINCE, ...SHOWN_SINCE_DELETED]],
      [13, [...SHOWN_SINCE, ...SHOWN_SINCE_DELETED]],
    ])(
      'attacks 515 and 523: in a store of schema %i that is upgraded a key is of the first to show it, where that is certain',
      async (schema, shown) => {
        const rows = shown.flatMap((one) => one.rows)
        const upgraded = await under.open(olderStore(schema, rows))
        try {
          const ownerOf = (key: string) => upgraded.takeKey({ boxId: 'another', moves: 0, key, isSigned: false })
          expect(await Promise.all(shown.map(({ key }) => ownerOf(key)))).toEqual(shown.map(({ owner }) => owner))
        } finally {
          await upgraded.close()
        }
      },
    )

    describe('a backup from before keys were as they should be', () => {
      const [one, two] = ['c', 'd'].map((first) => first.repeat(64)) as [string, string]
      const have = (from: Store, boxId: string, key: string) => from.takeKey({ boxId, moves: 0, key, isSigned: true })
      const show = async (to: Store, boxId: string, proverKey: string, round: number) => {
        await to.addJob(job(boxId, { round }))
        const leased = (await to.takeJobs(claim)).find((taken) => taken.boxId === boxId)!
        await to.finishJob(finishOf(leased, owner, { result: resultOf({ proverKey }) }))
      }
      const backup = async (of: Store) => {
        const lines: string[] = []
        await of.dump(async (line) => void lines.push(line))
        await of.close()
        return lines
      }
      const ownersIn = async (lines: readonly string[]) => {
        const other = await under.open()
        await other.load(from(lines))
        const ownerOf = (key: string) => other.takeKey({ boxId: 'another', moves: 0, key, isSigned: false })
        const owners = [await ownerOf(one), await ownerOf(two)]
        await other.close()
        return owners
      }
      const ofOld = (lines: readonly string[]) =>
        lines.map((line, i) => (i === 0 ? line.replace(/,"schema":\d+/, '') : line))

      test('attack 515: tells whose a key is, if nothing was deleted; one of today is left as it is', async () => {
        const made = await under.open()
        for (const id of [a, b, 'c', 'd']) await made.putBox(entry(id))
        await show(made, a, one, 1)
        await have(made, b, one)
        await show(made, b, one, 1)
        for (const id of ['c', 'd']) await show(made, id, two, 1)
        const lines = await backup(made)
        expect(await ownersIn(ofOld(lines))).toEqual([a, 'c'])
        expect(await ownersIn(lines)).toEqual([b, null])
      })

      test('attack 523: gives no key to whoever showed it once, when what its owner showed before was deleted', async () => {
        const made = await under.open()
        const boxes = [
          ['victim', one],
          ['thief', one],
          ['unknown', two],
          ['other-thief', two],
        ] as const
        for (const [id] of boxes) await made.putBox(entry(id, { claim: 'H100' }))
        await have(made, 'victim', one)
        for (const [id, key] of boxes) await show(made, id, key, 1)
        for (const round of [2, 3]) for (const [id, key] of [boxes[0], boxes[2]]) await show(made, id, key, round)
        await made.retain({ resultDays: -1, certificateDays: -1 })
        // Its key stays with it, and so many were accepted as are on record from now on.
        await made.putBox(entry('victim', { claim: 'H100 SXM' }))
        await show(made, 'victim', one, 4)
        expect(await ownersIn(ofOld(await backup(made)))).toEqual(['victim', null])
      })
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
      // Attack 377: that it was rejected is all that there is to say of its claim.
      await store.addJob(job(a, { round: n - 1 }))
      const rejected = resultOf({ outcome: 'rejected', judgement: { claim: { text: 'L4', verdict: 'matches' } } })
      await store.finishJob(finishOf(await only(a), owner, { result: rejected, box: failedBox }))
      await store.addJob(job(a, { round: n }))
      const proverKey = n.toString(16).padStart(64, '0')
      const result = resultOf({ runId: `dump${n}`, certificate: 'é'.repeat(1000), inventory, proverKey })
      await store.finishJob(finishOf(await only(a), owner, { result }))
      const number = 2_000_000 + n
      await store.openRound({ number, height: null, jobs: [job(a, { round: number }), job(b, { round: number })] })
      const [held] = await store.takeJobs({ ...claim, limit: 1 })
      // Two beside its window, of which one at most is taken with it.
      for (const reason of ['asked', 'changed'] as const)
        await store.addJob(job(b, { reason, cohort: -1, round: number }))
      const lines: string[] = []
      const rows = await store.dump(async (line) => void lines.push(line))
      expect(lines).toHaveLength(rows + 1)
      await expect(store.load(from(lines))).rejects.toMatchObject({ detail: { code: 'STORE_NOT_EMPTY' } })
      // Rounds and jobs as a clock that was a day ahead would have written them.
      const dayLater = (_: string, time: string) =>
        JSON.stringify(new Date(Date.parse(time) + 86_400_000).toISOString())
      // And all of it as it was before a claim's verdict had a column.
      const ahead = lines
        .map((line) => line.replace(/,"claim_verdict":(null|"[^"]*")/, ''))
        .map((line) => (line.startsWith('{"table":"boxes"') ? line.replace(/,"prover_key":(null|"[^"]*")/, '') : line))
        .map((line) => line.replace(/,"schema":\d+/, ''))
        // One of them as it was before scores had rules.
        .map((line) =>
          line.includes(`"id":"${a}"`)
            ? line.replace(/"(score_rules|moves|missed|stalls|rest_until)":[^,}]+,?/g, '').replace(/,}/, '}')
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
        expect(await textOf(await other.certificate(`dump${n}`))).toBe('é'.repeat(1000))
        // Attack 502: whose key it was is known, though its score has ended.
        const { moves } = (await other.box(b))!
        expect(await other.takeKey({ boxId: b, moves, key: proverKey, isSigned: true })).toBe(a)
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
