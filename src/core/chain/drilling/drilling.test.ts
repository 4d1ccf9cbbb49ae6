import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as world from '../../../../test/support/chainWorld.ts'
import { type Behaviour, Drillers } from '../../../../test/support/drillers.ts'
import { taggedHash } from '../../bytes/sha256.ts'
import { productChecks } from '../../work/drilled/productChecks.ts'
import { decayAndAdd, WEEKLY } from '../accounting.ts'
import { CHAIN_PRESETS } from '../params.ts'
import { problem } from '../problems.ts'
import { checkTx } from '../transactions/checkTx.ts'
import { DisputeMoveType, DrillCommitType, DrillRevealType, LockType } from '../transactions/payloads.ts'
import { classesOf, drillCommitment, leaderOf, PHASE, resultClass } from './task.ts'

const names = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal', 'ida']
const one = { params: { ...CHAIN_PRESETS.tiny, tasksPerEpoch: 1n } }
/** A chain on which the first task has just been drawn. */
const ready = new Drillers(names, {}, one).runToReady()
while (ready.tasks().length === 0) ready.runTo(ready.state.view.epoch + 1n)
const first = ready.state.view.epoch
const WORK = 9_000_000n

/** Each liar finds something of its own. */
const liar = (name: string): Behaviour => ({
  chunk: (task, index) => taggedHash(name, task.seed, Uint8Array.of(index)),
})
/** Plotters agree on one wrong chunk, and hope that it is not drawn. */
const plotter: Behaviour = {
  chunk: (task, index) => (index === 3 ? taggedHash('plot', task.seed, Uint8Array.of(index)) : null),
}
const together = (who: readonly string[], behaviour: Behaviour) =>
  Object.fromEntries(who.map((name) => [name, behaviour]))

const isConserved = ({ state }: Drillers) => expect(world.unitsOf(state)).toBe(state.view.supply)
const depositOf = (drillers: Drillers, name: string) => drillers.state.view.accounts.deposit.get(drillers.place(name))

describe('tasks that all compute alike', () => {
  test('are credited to each from the epoch of its commitment on, the same for all', () => {
    const drillers = ready.with({})
    const task = drillers.tasks()[0]!
    expect(task.replicas).toHaveLength(3)
    const name = names.find((each) => drillers.place(each) === task.replicas[0]!.account)!
    const before = drillers.state.view.accounts.drilled.get(drillers.place(name))
    drillers.runTo(first + 6n)
    const totals = drillers.totals()
    expect(totals.every((total) => total % WORK === 0n)).toBe(true)
    expect(totals.reduce((sum, total) => sum + total, 0n)).toBe(3n * WORK)
    // Five epochs of decay between the commitment and the settlement, and the one that ends it.
    let alone = before
    for (let i = 0; i < 6; i++) alone = decayAndAdd(alone, 0n, WEEKLY)
    let pending = decayAndAdd(0n, WORK, WEEKLY)
    for (let i = 0; i < 5; i++) pending = decayAndAdd(pending, 0n, WEEKLY)
    const rate = drillers.state.view.accounts.drilled.get(drillers.place(name))
    expect(rate - alone - pending).toBeLessThan(8n)
    expect(rate - alone - pending).toBeGreaterThan(-8n)
    expect(drillers.failures().every((failed) => failed === 0n)).toBe(true)
    isConserved(drillers)
  })
})

/** Who was drawn for the first task. */
const drawn = ready.tasks()[0]!.replicas.map(({ account }) => names.find((name) => ready.place(name) === account)!)

describe("attack 19: copy another replica's result", () => {
  test('property: a commitment names its account, result and nonce: another opens no other', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const opened = fc.record({
      account: bytes,
      resultRoot: bytes,
      traceRoot: bytes,
      live: fc.nat(65_535),
      nonce: bytes,
    })
    const nameOf = ({ account, nonce, ...shown }: typeof opened extends fc.Arbitrary<infer Value> ? Value : never) =>
      drillCommitment(world.NO_BYTES(32), account, shown, nonce).join()
    fc.assert(
      fc.property(
        opened,
        opened,
        fc.constantFrom('account', 'resultRoot', 'traceRoot', 'live', 'nonce'),
        (a, b, field) => {
          const copied = { ...a, [field]: b[field] }
          expect(nameOf(copied) === nameOf(a)).toBe(String(a[field]) === String(b[field]))
        },
      ),
    )
  })

  test('a copied commitment does not open under another account, and what is shown is shown too late', () => {
    const [author, copier] = drawn as [string, string]
    const drillers = ready.with({ [copier]: { commits: false, reveals: false } })
    const task = drillers.tasks()[0]!
    const { shown } = drillers.result(author, task)
    const [key, nonce] = [world.keyNamed(copier), world.NO_BYTES(32)]
    const commitment = drillCommitment(task.id, world.keyNamed(author), shown, nonce)
    const copied = DrillCommitType.serialize({ task: task.id, commitment, vrfProof: world.NO_BYTES(80) })
    drillers.state = world.advance(drillers.state, [world.txOf(drillers.state, key, 12, copied)])
    drillers.runTo(first + 3n)
    const reveal = world.txOf(drillers.state, key, 13, DrillRevealType.serialize({ task: task.id, ...shown, nonce }))
    expect(world.make(drillers.state, [reveal])).toEqual({ problem: problem('COMMITMENT', 'body.txs[0].payload') })
    const late = world.txOf(drillers.state, key, 12, copied)
    expect(world.make(drillers.state, [late])).toEqual({ problem: problem('TWICE', 'body.txs[0].payload.task') })
    drillers.runTo(first + 4n)
    expect(depositOf(drillers, copier)).toBeLessThanOrEqual(world.tokens(9))
    isConserved(drillers)
  })
})

describe("attack 20: a wrong answer voids nobody else's credit", () => {
  test('property: a class leads with at least three replicas and two thirds, and never two of them', () => {
    const answers = fc.array(fc.record({ root: fc.nat(2), live: fc.nat(1), mark: fc.constantFrom(0, 0, 0, 1, 2, 3) }), {
      maxLength: 7,
    })
    const [task] = ready.tasks()
    fc.assert(
      fc.property(answers, (all) => {
        const replicas = all.map(({ root, live, mark }, account) => ({
          ...{ ...task!.replicas[0]!, account, revealed: 1, mark, live },
          resultRoot: world.NO_BYTES(32).fill(root),
        }))
        const classes = classesOf({ ...task!, replicas })
        const standing = all.filter(({ mark }) => mark === 0)
        expect(classes.reduce((sum, each) => sum + each.replicas.length, 0)).toBe(standing.length)
        const sizes = classes.map((each) => each.replicas.length)
        const able = sizes.filter((size) => size >= 3 && 3 * size >= 2 * standing.length)
        expect(able.length).toBeLessThan(2)
        expect(leaderOf(classes)?.replicas.length).toBe(able[0])
      }),
    )
  })

  test('one liar is outvoted by fresh replicas, and dissent costs a tenth of its deposit', () => {
    const drillers = ready.with({ ada: liar('ada') })
    drillers.runTo(first + 34n)
    const [ada, ...others] = drillers.totals()
    expect(ada).toBe(0n)
    expect(others.every((total) => total > 0n)).toBe(true)
    expect(drillers.failures()[0]).toBeGreaterThan(0n)
    expect(depositOf(drillers, 'ada')).toBeLessThan(world.tokens(10))
    isConserved(drillers)
  })

  test("under the litepaper's rule it does: all agree or all lose", () => {
    const params = { ...one.params, strictDrilling: 1n }
    const honest = new Drillers(names.slice(0, 3), {}, { params }).runToReady()
    const strict = honest.with({ ada: liar('ada') })
    strict.runTo(strict.state.view.epoch + 12n)
    expect(strict.totals()).toEqual([0n, 0n, 0n])
    honest.runTo(honest.state.view.epoch + 12n)
    expect(honest.totals().every((total) => total > 0n)).toBe(true)
  })
})

describe('who is late', () => {
  test('attack 364: loses a tenth of its deposit though it asked for it back after the draw', () => {
    const { account } = ready.tasks()[0]!.replicas[0]!
    const name = names.find((each) => ready.place(each) === account)!
    const drillers = ready.with({ [name]: { commits: false } })
    const payload = LockType.serialize({ purpose: 2, amount: world.tokens(10) })
    drillers.extra = (state) =>
      state.view.accounts.deposit.get(account) === 0n ? [] : [world.txOf(state, world.keyNamed(name), 3, payload)]
    drillers.runTo(first + 2n)
    const { accounts, unlocks } = drillers.state.view
    const left = unlocks.getAllReadonlyValues().filter((unlock) => unlock.account === account)
    expect([accounts.deposit.get(account), left.map(({ amount }) => amount)]).toEqual([0n, [world.tokens(9)]])
    isConserved(drillers)
  })

  test('is replaced, marked and loses a tenth of its deposit; the task goes on', () => {
    const drillers = ready.with({ ada: { commits: false } })
    let redrawn = 0
    for (let epoch = first; epoch < first + 14n; epoch++) {
      drillers.runTo(epoch)
      redrawn += drillers.tasks().flatMap(({ replicas }) => replicas.filter(({ origin }) => origin === 1)).length
    }
    expect(drillers.totals()[0]).toBe(0n)
    expect(depositOf(drillers, 'ada')).toBeLessThan(world.tokens(10))
    expect(redrawn).toBeGreaterThan(0)
    expect(
      drillers
        .totals()
        .slice(1)
        .every((total) => total > 0n),
    ).toBe(true)
    isConserved(drillers)
  })

  test('a task that nobody takes up is drawn three times and dropped', () => {
    const drillers = ready.with(together(names, { commits: false }))
    const id = drillers.tasks()[0]!.id.join()
    const draws = new Set<number>()
    for (let epoch = first; epoch < first + 10n; epoch++) {
      drillers.runTo(epoch)
      for (const task of drillers.tasks()) if (task.id.join() === id) draws.add(task.draws)
    }
    expect([...draws]).toEqual([1, 2, 3])
    expect(drillers.tasks().some((task) => task.id.join() === id)).toBe(false)
    expect(drillers.totals().every((total) => total === 0n)).toBe(true)
  })
})

describe('openings', () => {
  test('who does not show what was drawn is a fraud: deposit, power and a week', () => {
    const drillers = ready.with(together(names, { opens: false }))
    drillers.runTo(first + 12n)
    const { accounts } = drillers.state.view
    const frauds = names.filter((name) => depositOf(drillers, name) === 0n)
    expect(frauds.length).toBeGreaterThan(0)
    for (const name of frauds) {
      expect(accounts.ready.get(drillers.place(name))).toBe(0)
      expect(accounts.drillsFrom.get(drillers.place(name))).toBeGreaterThan(drillers.state.view.epoch)
      expect(accounts.streak.get(drillers.place(name))).toBe(0n)
    }
    isConserved(drillers)
  })
})

describe('an appeal', () => {
  test('ends at one patch: one honest replica beats a majority of plotters', () => {
    const plot = names.slice(0, 7)
    const drillers = ready.with(together(plot, plotter))
    const seen = { appeals: 0 }
    drillers.extra = () => drillers.appeals(['hal', 'ida'], plot, seen)
    drillers.runTo(first + 24n)
    expect(seen.appeals).toBeGreaterThan(0)
    // Some plotters led, were accused, and could not show their patch.
    const frauds = plot.filter((name) => depositOf(drillers, name) === 0n)
    expect(frauds.length).toBeGreaterThan(2)
    expect(depositOf(drillers, 'hal')).toBeGreaterThanOrEqual(world.tokens(9))
    isConserved(drillers)
  })

  test('attack 20: by the leader ruins who stands against it: a forged result costs more than a tenth of a deposit', () => {
    const drillers = ready.with({ ada: plotter })
    const accuse = () =>
      drillers.tasks().flatMap((task) => {
        const isThere = (name: string) =>
          task.replicas.some((each) => each.account === drillers.place(name) && each.mark === 0)
        const challenger = names.slice(1).find(isThere)
        if (task.phase !== PHASE.appeal || task.dispute.length > 0 || !isThere('ada') || !challenger) return []
        const accused = resultClass(task.id, drillers.result('ada', task))
        const move = { ...DisputeMoveType.defaultValue(), task: task.id, accused }
        return [world.txOf(drillers.state, world.keyNamed(challenger), 15, DisputeMoveType.serialize(move))]
      })
    drillers.extra = () => [...accuse(), ...drillers.appeals(names.slice(1), ['ada'], { appeals: 0 })]
    while (depositOf(drillers, 'ada') > 0n) drillers.runTo(drillers.state.view.epoch + 1n)
    expect(drillers.state.view.accounts.drilled.get(drillers.place('ada'))).toBe(0n)
    expect(names.slice(1).every((name) => depositOf(drillers, name) === world.tokens(10))).toBe(true)
    isConserved(drillers)
  })

  test('against a right result ruins the challenger', () => {
    const drillers = ready.with({ ada: liar('ada') })
    const seen = { appeals: 0 }
    drillers.extra = () => drillers.appeals(['ada'], names.slice(1), seen)
    drillers.runTo(first + 20n)
    expect(seen.appeals).toBeGreaterThan(0)
    expect(depositOf(drillers, 'ada')).toBe(0n)
    expect(names.slice(1).every((name) => depositOf(drillers, name) === world.tokens(10))).toBe(true)
    isConserved(drillers)
  })
})

describe('a pair of trusted replicas', () => {
  test('is audited by whom the lottery lets in, hidden until then, and paid like them', () => {
    const params = { ...one.params, trustedStreak: 0n, auditNumerator: 7n }
    const drillers = new Drillers(names.slice(0, 5), {}, { params }).runToReady()
    drillers.audits = true
    let audits = 0
    for (let i = 0; i < 12; i++) {
      drillers.runTo(drillers.state.view.epoch + 1n)
      const replicas = drillers.tasks().flatMap((task) => task.replicas)
      audits += replicas.filter(({ origin, revealed }) => origin === 2 && revealed === 1).length
      expect(drillers.tasks().every((task) => task.replicas.filter(({ origin }) => origin === 0).length === 2)).toBe(
        true,
      )
    }
    expect(audits).toBeGreaterThan(0)
    expect(drillers.failures().every((failed) => failed === 0n)).toBe(true)
    isConserved(drillers)
  })
})

test('attack 208: a live share that the kind cannot have is not shown, and whoever committed to it voids nothing', () => {
  const [liar, ...others] = drawn as [string, string, string]
  const drillers = ready.with({ [liar]: { live: 65_534, reveals: false } })
  const task = drillers.tasks()[0]!
  drillers.runTo(first + 3n)
  const { shown } = drillers.result(liar, task)
  const payload = DrillRevealType.serialize({ task: task.id, ...shown, nonce: world.NO_BYTES(32) })
  const { state } = drillers
  const { live } = productChecks(() => expect.unreachable())
  const refusal = (checks: typeof world.standIns) =>
    checkTx(state, world.txOf(state, world.keyNamed(liar), 13, payload), state.view.slot + 1n, checks)
  expect(refusal(world.standIns)).toBeNull()
  expect(refusal({ ...world.standIns, live })).toEqual(problem('AMOUNT', 'payload.live'))
  expect([live(0, 65_535), live(1, 65_535)]).toEqual([true, false])
  drillers.runTo(first + 6n)
  const { accounts } = drillers.state.view
  for (const name of others) expect(accounts.drilledTotal.get(drillers.place(name))).toBe(WORK)
  expect(accounts.drilledTotal.get(drillers.place(liar))).toBe(0n)
  expect(depositOf(drillers, liar)).toBeLessThan(depositOf(ready, liar))
  isConserved(drillers)
})
