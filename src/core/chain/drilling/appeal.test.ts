import { describe, expect, test } from 'vitest'
import * as world from '../../../../test/support/chainWorld.ts'
import { type Behaviour, Drillers, type Gold } from '../../../../test/support/drillers.ts'
import { taggedHash } from '../../bytes/sha256.ts'
import { CHAIN_PRESETS, WEEK } from '../params.ts'
import { problem } from '../problems.ts'
import { goldLeaf } from '../transactions/dispute.ts'
import * as payloads from '../transactions/payloads.ts'
import { resultLeaf, treePath, treeRoot } from './resultTree.ts'
import { hasLeader, PHASE, resultClass, standing, type Task } from './task.ts'

const names = ['ada', 'bob', 'cyd', 'dan', 'eve']
const plot = names.slice(0, 4)
const params = { ...CHAIN_PRESETS.tiny, tasksPerEpoch: 1n }
const [PROJECT, RECORDS, DEPTH] = [1, 4, 4]
const GRAPH = world.NO_BYTES(32).fill(5)

/** Whoever lies does so about the tasks of the project. */
const lying = (chunk: NonNullable<Behaviour['chunk']>): Behaviour => ({
  chunk: (task, index) => (task.project === PROJECT ? chunk(task, index) : null),
})
/** Finds something of its own for every chunk; plotters agree on one wrong chunk. */
const liar = (name: string) => lying((task, index) => taggedHash(name, Uint8Array.of(Number(task.record), index)))
const plotter = lying((task, index) => (index === 3 ? taggedHash('plot', task.seed) : null))
const allOf = (who: readonly string[], behaviour: Behaviour) => Object.fromEntries(who.map((name) => [name, behaviour]))

/** What the project computed beforehand: the right result of each record, and then a wrong one, as the judge would lie. */
const rightOf = (record: number, index: number) =>
  world.chunkOf({ graph: GRAPH, seed: world.NO_BYTES(32), record: BigInt(record) }, index)
const wrongOf = (record: number, index: number) => taggedHash('judge', Uint8Array.of(record, index))
const results = [rightOf, wrongOf].flatMap((chunkOf) =>
  Array.from({ length: RECORDS }, (_, record) =>
    treeRoot(Array.from({ length: 2 ** DEPTH }, (__, index) => resultLeaf(index, chunkOf(record, index)))),
  ),
)
const salt = world.NO_BYTES(32).fill(9)
const goldLeaves = results.map((resultRoot, at) => goldLeaf(BigInt(at % RECORDS), resultRoot, salt))
const entryAt = (place: number): Gold => ({
  ...{ record: BigInt(place % RECORDS), resultRoot: results[place]!, salt },
  ...{ place, path: treePath(goldLeaves, place) },
})
const goldOf = ({ project, record }: Task) => (project === PROJECT ? [entryAt(Number(record))] : [])
const wrongGoldOf = ({ project, record }: Task) => (project === PROJECT ? [entryAt(RECORDS + Number(record))] : [])

/** A chain on which the judge's project has gone live and its one task has been drawn. */
function withProject(): Drillers {
  const drillers = new Drillers(names, {}, { params }).runToReady()
  const judge = world.keyNamed('judge')
  const send = (kind: number, payload: Uint8Array, ...keys: Uint8Array[]) => {
    const txs = keys.map((key) => world.txOf(drillers.state, key, kind, payload))
    drillers.state = world.advance(drillers.state, txs)
  }
  const records = { graph: GRAPH, goldRoot: treeRoot(goldLeaves), records: BigInt(RECORDS) }
  const proposal = { ...payloads.ProposalType.defaultValue(), ...records, work: 9_000_000n, depth: DEPTH }
  send(2, payloads.LockType.serialize({ purpose: 3, amount: world.tokens(10_000) }), judge)
  send(8, payloads.ProposalType.serialize(proposal), judge)
  send(9, payloads.ProjectVotePayloadType.serialize({ project: PROJECT, utility: 2 }), ...names.map(world.keyNamed))
  drillers.runTo(drillers.state.view.epoch + 1n)
  send(10, payloads.TasksType.serialize({ project: PROJECT, count: 1 }), judge)
  while (!drillers.tasks().some(({ project }) => project === PROJECT)) drillers.runTo(drillers.state.view.epoch + 1n)
  return drillers
}

const drawn = withProject()
const theTask = (drillers: Drillers) => drillers.tasks().find(({ project }) => project === PROJECT)
const isConserved = ({ state }: Drillers) => expect(world.unitsOf(state)).toBe(state.view.supply)
const accountOf = (drillers: Drillers, name: string) => {
  const { accounts } = drillers.state.view
  const place = drillers.place(name)
  const [deposit, drilled] = [accounts.deposit.get(place), accounts.drilled.get(place)]
  const [ready, drillsFrom] = [accounts.ready.get(place), accounts.drillsFrom.get(place)]
  return { deposit, drilled, ready, drillsFrom, bond: accounts.projectBond.get(place) }
}
function runToAppeal(drillers: Drillers): Drillers {
  while (theTask(drillers)!.phase !== PHASE.appeal) drillers.runTo(drillers.state.view.epoch + 1n)
  return drillers
}

/** Four plotters lead, the fifth lies alone: no replica is honest, and none would appeal. */
const plotted = runToAppeal(drawn.with({ ...allOf(plot, plotter), eve: liar('eve') }))

describe('a gold entry', () => {
  test('lets the project bring down all who lied, where no replica was honest', () => {
    const drillers = plotted.with({ ...allOf(plot, plotter), eve: liar('eve') })
    const accused = standing(theTask(drillers)!).map(({ account }) => names.find((n) => drillers.place(n) === account)!)
    expect(accused.filter((name) => plot.includes(name)).length).toBeGreaterThanOrEqual(3)
    const seen = { appeals: 0 }
    drillers.extra = () => drillers.appeals(['judge'], names, seen, goldOf)
    while (standing(theTask(drillers)!).length > 0) drillers.runTo(drillers.state.view.epoch + 1n)
    expect(seen.appeals).toBeGreaterThanOrEqual(1)
    for (const name of accused) {
      const { deposit, drilled, ready, drillsFrom } = accountOf(drillers, name)
      expect([name, deposit, ready]).toEqual([name, 0n, 0])
      expect(drilled).toBeLessThan(accountOf(plotted, name).drilled / 2n)
      expect(drillsFrom).toBeGreaterThan(drillers.state.view.epoch + WEEK - 6n)
    }
    expect(accountOf(drillers, 'judge').bond).toBe(world.tokens(10_000))
    isConserved(drillers)
  })

  test('that is wrong costs the project a tenth of its bond, and those it accused nothing', () => {
    const drillers = runToAppeal(drawn.with({ eve: liar('eve'), judge: liar('judge') }))
    const seen = { appeals: 0 }
    drillers.extra = () => drillers.appeals(['judge'], names, seen, seen.appeals === 0 ? wrongGoldOf : undefined)
    while (accountOf(drillers, 'judge').bond === world.tokens(10_000)) drillers.runTo(drillers.state.view.epoch + 1n)
    expect(seen.appeals).toBe(1)
    expect(accountOf(drillers, 'judge').bond).toBe(world.tokens(9_000))
    for (const name of plot) expect(accountOf(drillers, name).deposit).toBe(world.tokens(10))
    isConserved(drillers)
  })
})

describe('a move of an appeal is refused', () => {
  const task = theTask(plotted)!
  const stands = (name: string) => standing(task).some(({ account }) => account === plotted.place(name))
  const classOf = (name: string) => resultClass(task.id, plotted.result(name, task))
  const [leader, other] = [plot.find(stands)!, plot.findLast(stands)!]
  const blank = { ...payloads.DisputeMoveType.defaultValue(), task: task.id }
  const moveOf = (state: typeof plotted.state, name: string, more: Partial<typeof blank>) =>
    world.txOf(state, world.keyNamed(name), 15, payloads.DisputeMoveType.serialize({ ...blank, ...more }))
  const refusal = (state: typeof plotted.state, name: string, more: Partial<typeof blank>, after = 1n) => {
    const made = world.make(state, [moveOf(state, name, more)], state.view.slot + after)
    return 'problem' in made ? made.problem : null
  }
  const refused = (code: Parameters<typeof problem>[0], where: string) => problem(code, `body.txs[0].${where}`)
  const [TURN, REPLICA] = [refused('TURN', 'payload.move'), refused('REPLICA', 'account')]

  test('that does not exist, or is of a task that is not there or not in an appeal', () => {
    const { state } = plotted
    expect(refusal(state, 'judge', { move: 4 })).toEqual(refused('DISPUTE', 'payload.move'))
    expect(refusal(state, 'judge', { task: GRAPH })).toEqual(refused('TASK', 'payload.task'))
    const running = drawn.tasks().find(({ phase }) => phase === PHASE.running)!
    expect(refusal(drawn.state, 'judge', { task: running.id })).toEqual(refused('PHASE', 'payload.task'))
    for (const move of [1, 2, 3]) expect(refusal(state, leader, { move })).toEqual(TURN)
  })

  test('that accuses the wrong, or comes from nobody who may', () => {
    const { state } = plotted
    const accused = classOf(leader)
    expect(hasLeader(task)).toBe(true)
    const notAccused = refused('DISPUTE', 'payload.accused')
    expect(refusal(state, 'judge', { accused: GRAPH, gold: goldOf(task) })).toEqual(notAccused)
    expect(refusal(state, leader, { accused })).toEqual(notAccused)
    // The leader may accuse whoever stands against it.
    expect(refusal(state, leader, { accused: classOf('eve') })).toBeNull()
    expect(refusal(state, 'judge', { accused })).toEqual(REPLICA)
    const [gold] = goldOf(task)
    expect(refusal(state, 'ada', { accused, gold: [gold!] })).toEqual(REPLICA)
    const wrongs: Partial<Gold>[] = [
      { salt: GRAPH },
      { place: 7 },
      { path: [] },
      { resultRoot: GRAPH },
      entryAt((Number(task.record) + 1) % RECORDS),
    ]
    for (const wrong of wrongs)
      expect(refusal(state, 'judge', { accused, gold: [{ ...gold!, ...wrong }] })).toEqual(REPLICA)
    expect(refusal(state, 'judge', { accused, gold: [gold!] })).toBeNull()
  })

  test('out of turn, by another party, with other hashes, or too late', () => {
    const play = (state: typeof plotted.state, name: string, more: Partial<typeof blank>, after = 1n) =>
      world.advance(state, [moveOf(state, name, more)], state.view.slot + after)
    const accused = classOf(leader)
    const appealed = play(plotted.state, 'judge', { accused, gold: goldOf(task) })
    expect(refusal(appealed, 'judge', { accused, gold: goldOf(task) })).toEqual(refused('TWICE', 'payload.task'))
    const { leaves } = plotted.result(leader, task)
    expect(refusal(appealed, 'judge', { move: 1, children: [...leaves] })).toEqual(REPLICA)
    for (const children of [leaves.slice(1), leaves.toReversed(), []])
      expect(refusal(appealed, leader, { move: 1, children })).toEqual(refused('DISPUTE', 'payload.children'))
    for (const move of [2, 3]) expect(refusal(appealed, leader, { move })).toEqual(TURN)
    const split = play(appealed, leader, { move: 1, children: [...leaves] })
    for (const move of [1, 3]) expect(refusal(split, leader, { move, children: [...leaves] })).toEqual(TURN)
    expect(refusal(split, leader, { move: 2, child: 3 })).toEqual(REPLICA)
    expect(refusal(split, 'judge', { move: 2, child: 16 })).toEqual(refused('DISPUTE', 'payload.child'))
    const chosen = play(split, 'judge', { move: 2, child: 3 })
    const opening = (name: string, index: number) => [plotted.opening(name, task, index)]
    expect(refusal(chosen, 'judge', { move: 3, opening: opening('judge', 3) })).toEqual(REPLICA)
    const unshown = refused('OPENING', 'payload.opening')
    for (const shown of [[], opening(leader, 3), opening(leader, 4), opening('judge', 3)])
      expect(refusal(chosen, other, { move: 3, opening: shown })).toEqual(unshown)
    // The last move is due within 20 slots, and the epoch of the 20th is not over by the 21st.
    const { deadline } = chosen.view.tasks.getAllReadonlyValues().find(({ project }) => project === PROJECT)!
      .dispute[0]!
    expect((deadline + 1n) % params.epochSlots).toBeGreaterThan(0n)
    const before = world.advance(world.advanceTo(chosen, deadline / params.epochSlots), [], deadline)
    expect(refusal(before, leader, { move: 3, opening: opening(leader, 3) })).toEqual(
      refused('TOO_LATE', 'payload.task'),
    )
  })
})
