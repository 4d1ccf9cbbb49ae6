import { BranchNode, LeafNode } from '@chainsafe/persistent-merkle-tree'
import { describe, expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { Drillers } from '../../../test/support/drillers.ts'
import { applyBlock, BY_BOOT_WEIGHT, type Draft, makeBlock, SECONDARY } from './applyBlock.ts'
import { type ChainState, etaOf } from './chainState.ts'
import { auditAlpha, drawnPatches, MARK, mustOpen, PHASE, type Task } from './drilling/task.ts'
import { genesisState, stateRoot } from './genesisState.ts'
import { lotteryNumber, slotAlpha } from './lottery.ts'
import { CHAIN_PRESETS } from './params.ts'
import { PROBLEM_CODES, type Problem, type ProblemCode, problem } from './problems.ts'
import { headerMessage } from './signing.ts'
import { leaderThreshold } from './snapshots.ts'
import type { Block, Commit, Header, Tx } from './ssz.ts'
import { Keys, ProjectType, TaskType } from './stateType.ts'
import { reportCommitment } from './transactions/boxes.ts'
import { EvidenceType } from './transactions/evidence.ts'
import * as payloads from './transactions/payloads.ts'

const names = ['ada', 'bob', 'cyd', 'dan']
const [ada, bob, cyd] = names.map(world.keyNamed) as [Uint8Array, Uint8Array, Uint8Array]
const judge = world.accountNamed('judge', { stake: world.tokens(10_000) })
const genesis = world.genesisOf([...names.map((name) => world.accountNamed(name)), judge])
const start = world.advance(genesisState(genesis))
const ZERO = world.NO_BYTES(32)

type Outcome = { readonly problem: Problem } | { readonly state: ChainState }

/** Why it was refused, or null; either way the state is as it was. */
function judged(state: ChainState, attempt: () => Outcome): Problem | null {
  const before = stateRoot(state)
  const outcome = attempt()
  expect(stateRoot(state)).toEqual(before)
  return 'problem' in outcome ? outcome.problem : null
}

const ofTxs = (state: ChainState, ...txs: Tx[]) => judged(state, () => world.make(state, txs))
const ofTx = (key: Uint8Array, kind: number, payload: Uint8Array, more: Partial<Tx> = {}, state = start) =>
  ofTxs(state, world.txOf(state, key, kind, payload, more))
const ofCommit = (commit: Partial<Commit>) =>
  judged(start, () => {
    const whole = { ...world.commitOf(start, start.head, start.view.slot), ...commit }
    return world.make(start, [], undefined, [whole])
  })

const next = (state = start): Block => {
  const made = world.make(state)
  if ('problem' in made) throw new Error(made.problem.code)
  return made.block
}
const ofBlock = ({ header, body }: Block, state = start) =>
  judged(state, () => applyBlock(state, { header, body }, world.standIns))
const resigned = (header: Header): Header => ({
  ...header,
  sig: world.signAs(header.author, headerMessage(start.genesisHash, header)),
})
/** A block of the author whose turn it is, with something about it changed. */
const ofDraft = (more: Partial<Draft>, state = start) =>
  judged(state, () => {
    const { slot, author, kind, vrfProof } = next(state).header
    const draft = { slot, author, kind, vrfProof, body: { txs: [], commit: [] }, ...more }
    return makeBlock(state, draft, (message) => world.signAs(draft.author, message), world.standIns)
  })

const transfer = (amount: bigint, to = bob) => payloads.TransferType.serialize({ to, amount })
const lock = (purpose: number, amount: bigint) => payloads.LockType.serialize({ purpose, amount })
const vote = (project: number, utility: number) => payloads.ProjectVotePayloadType.serialize({ project, utility })
const evidence = (headers: Header[]) => EvidenceType.serialize({ offence: 0, headers, votes: [] })
const twoHeaders = (state = start): Header[] => {
  const { header } = next(state)
  const other = { ...header, bodyRoot: ZERO.slice().fill(9) }
  return [header, { ...other, sig: world.signAs(header.author, headerMessage(state.genesisHash, other)) }]
}
const jailed = world.advance(start, [world.txOf(start, cyd, 24, evidence(twoHeaders()))], start.view.slot + 2n)
const soonOld = genesisState({ ...genesis, params: { ...CHAIN_PRESETS.tiny, jailEpochs: 0n } })

const report = payloads.ReportType.serialize({ epoch: 0n, commitment: ZERO })
const revealOf = (epoch: bigint) => payloads.RevealType.serialize({ ...payloads.RevealType.defaultValue(), epoch })
const reported = world.advanceTo(world.advance(start, [world.txOf(start, judge.key, 6, report)]), 1n)

/** A chain of three drillers on which a task has just been drawn to all of them, and the same once it is in an appeal. */
const drillers = new Drillers(
  names.slice(0, 3),
  {},
  { params: { ...CHAIN_PRESETS.tiny, tasksPerEpoch: 1n } },
).runToReady()
while (drillers.tasks().length === 0) drillers.runTo(drillers.state.view.epoch + 1n)
const task = drillers.tasks()[0]!
const appealed = ((): ChainState => {
  const view = drillers.state.view.clone()
  view.tasks.set(0, TaskType.toViewDU({ ...task, phase: PHASE.appeal }))
  view.commit()
  return { ...drillers.state, view }
})()
const ofDrill = (name: string, kind: number, payload: Uint8Array, state = drillers.state) =>
  ofTx(world.keyNamed(name), kind, payload, {}, state)
const blankCommit = { task: task.id, commitment: ZERO, vrfProof: world.NO_BYTES(80) }
const drillCommit = (more: Partial<typeof blankCommit> = {}) =>
  payloads.DrillCommitType.serialize({ ...blankCommit, ...more })
const drillReveal = (more: { task?: Uint8Array } = {}) =>
  payloads.DrillRevealType.serialize({ ...payloads.DrillRevealType.defaultValue(), task: task.id, ...more })
const drillOpen = (openings: ReturnType<Drillers['opening']>[], of: Pick<Task, 'id'> = task) =>
  payloads.DrillOpenType.serialize({ task: of.id, openings })
const disputeMove = (move: number) =>
  payloads.DisputeMoveType.serialize({ ...payloads.DisputeMoveType.defaultValue(), task: task.id, move })

/** One way to each code: whoever adds a code adds how to get it. */
const PROVOKED: Readonly<Record<ProblemCode, () => Problem | null>> = {
  MALFORMED: () => ofTx(ada, 0, world.NO_BYTES(3)),
  PARENT: () => ofBlock(next(jailed)),
  SLOT: () => ofDraft({ slot: start.view.slot }),
  AUTHOR: () => ofDraft({ author: world.keyNamed('none') }),
  JAILED: () => ofDraft({ author: twoHeaders()[0]!.author }, jailed),
  KIND: () => ofDraft({ kind: 4 }),
  PROOF: () => ofDraft({ kind: SECONDARY, vrfProof: world.NO_BYTES(80).fill(1), author: ada }),
  DRAW: () => ofDraft({ kind: SECONDARY, vrfProof: world.NO_BYTES(80), author: notDrawn() }),
  SIGNATURE: () => ofTx(ada, 0, transfer(1n), { sig: world.NO_BYTES(64) }),
  SIZE: () => ofTx(ada, 0, world.NO_BYTES(131_072)),
  BODY_ROOT: () => ofBlock({ ...next(), header: resigned({ ...next().header, bodyRoot: ZERO }) }),
  STATE_ROOT: () => ofBlock({ ...next(), header: resigned({ ...next().header, stateRoot: ZERO }) }),
  COMMIT_SET: () => ofCommit({ set: 1n }),
  COMMIT_TARGET: () => ofCommit({ target: ZERO }),
  COMMIT_LATE: () => ofCommit({ late: 1 }),
  COMMIT_VOTERS: () => ofCommit({ sigs: [] }),
  COMMIT_QUORUM: () => ofCommit(firstVoterOnly()),
  RESERVED: () => ofTx(ada, 16, ZERO),
  UNKNOWN_KIND: () => ofTx(ada, 99, ZERO),
  KEY: () => ofTx(ZERO.slice().fill(0xff), 0, transfer(1n), { payer: [bob] }),
  ACCOUNT: () => ofTx(world.keyNamed('none'), 0, transfer(1n)),
  NONCE: () => ofTx(ada, 0, transfer(1n), { nonce: 7n }),
  EXPIRED: () => ofTx(ada, 0, transfer(1n), { lastSlot: start.view.slot }),
  FEE: () => ofTx(ada, 0, transfer(1n), { fee: 1n }),
  BALANCE: () => ofTx(ada, 0, transfer(world.tokens(200_000))),
  AMOUNT: () => ofTx(ada, 0, transfer(0n)),
  PURPOSE: () => ofTx(ada, 2, lock(4, 1n)),
  POSSESSION: () => ofTx(ada, 1, payloads.VrfKeyType.serialize({ key: bob, proof: world.NO_BYTES(80) })),
  FULL: () =>
    ofTxs(start, ...Array.from({ length: 17 }, (_, i) => world.txOf(start, ada, 3, lock(0, 1n), { nonce: BigInt(i) }))),
  BOX: () => ofTx(ada, 5, payloads.BoxRemoveType.serialize({ box: bob })),
  VALIDATOR: () => ofTx(ada, 6, report),
  EPOCH: () => ofTx(judge.key, 7, revealOf(5n)),
  TOO_LATE: () =>
    judged(start, () => world.make(start, [world.txOf(start, judge.key, 6, report, { lastSlot: 9n })], 9n)),
  TWICE: () => ofTxs(start, ...[0n, 1n].map((nonce) => world.txOf(start, judge.key, 6, report, { nonce }))),
  COMMITMENT: () => ofTx(judge.key, 7, revealOf(0n), {}, reported),
  PROJECT: () => ofTx(ada, 9, vote(7, 2)),
  UTILITY: () => ofTx(ada, 9, vote(0, 3)),
  READY: () => ofTx(ada, 11, payloads.ReadyType.serialize({ classes: 1 })),
  TASK: () => ofTx(ada, 12, drillCommit({ task: ZERO })),
  REPLICA: () => ofDrill('judge', 12, drillCommit()),
  PHASE: () => ofDrill('ada', 12, drillCommit(), appealed),
  OPENING: () => ofOpening((openings) => openings.slice(1)),
  DISPUTE: () => ofDrill('ada', 15, disputeMove(4), appealed),
  TURN: () => ofDrill('ada', 15, disputeMove(1), appealed),
  EVIDENCE: () => ofTx(ada, 24, evidence([])),
  OLD: () => ofTx(ada, 24, evidence(twoHeaders(soonOld)), {}, world.advanceTo(soonOld, 2n)),
  PUNISHED: () => ofTx(ada, 24, evidence(twoHeaders()), {}, jailed),
}

/** Somebody eligible who is not the secondary author of the next slot. */
const notDrawn = () =>
  names.map(world.keyNamed).find((author) => {
    const made = ofDraft({ kind: SECONDARY, vrfProof: world.NO_BYTES(80), author })
    return made?.code === 'DRAW'
  })!

function firstVoterOnly(): Partial<Commit> {
  const { voters, sigs } = world.commitOf(start, start.head, start.view.slot)
  const few = voters.clone()
  for (let i = 1; i < few.bitLen; i++) few.set(i, false)
  return { voters: few, sigs: sigs.slice(0, 1) }
}

type Openings = ReturnType<Drillers['opening']>[]

/** A replica that is asked to open its result, in the epoch for it, with all that it would show. */
const asked = (() => {
  const at = drillers.with(Object.fromEntries(names.map((name) => [name, { opens: false }])))
  for (;;) {
    at.runTo(at.state.view.epoch + 1n)
    const { state } = at
    const eta = etaOf(state.view, state.view.epoch)
    for (const each of at.tasks().filter(({ epoch }) => state.view.epoch === epoch + 5n))
      for (const name of names.slice(0, 3)) {
        const replica = each.replicas.find(({ account, mark }) => account === at.place(name) && mark === MARK.none)
        if (replica === undefined || !mustOpen(eta, each, replica, world.keyNamed(name))) continue
        const openings = drawnPatches(eta, each).map((index) => at.opening(name, each, index))
        return { name, state, task: each, openings }
      }
  }
})()
const ofOpening = (change: (openings: Openings) => Openings) =>
  ofDrill(asked.name, 14, drillOpen(change(asked.openings), asked.task), asked.state)

describe('what is refused has a code and leaves the state alone', () => {
  test.each(PROBLEM_CODES)('%s', (code) => {
    expect(PROVOKED[code]()?.code).toBe(code)
  })
})

const txWhere = (code: ProblemCode, where: string) => problem(code, `body.txs[0].${where}`)

describe('a header is refused', () => {
  const { slot, kind } = next().header
  const alpha = slotAlpha(start.genesisHash, etaOf(start.view, 0n), slot)
  const isWinner = (name: string) =>
    lotteryNumber(world.betaOf(world.keyNamed(`${name} vrf`), alpha)) < leaderThreshold(start.params)(1n, 5n)
  const loser = names.find((name) => !isWinner(name))!
  const proof = world.proofOf(world.keyNamed(`${loser} vrf`), alpha)

  test('that claims another kind of weight, another key or a win that is none', () => {
    const [byKind, byProof, byAuthor] = ['header.kind', 'header.vrfProof', 'header.author']
    expect(ofDraft({ kind: kind ^ BY_BOOT_WEIGHT })).toEqual(problem('KIND', byKind!))
    const primary = { kind: 0, author: world.keyNamed(loser) }
    expect(ofDraft({ ...primary, vrfProof: world.NO_BYTES(80) })).toEqual(problem('PROOF', byProof!))
    expect(ofDraft({ ...primary, vrfProof: proof })).toEqual(problem('DRAW', byProof!))
    const poor = world.accountNamed('poor', { drilled: 0n })
    const state = genesisState(world.genesisOf([...genesis.accounts, poor], { authorities: [] }))
    expect(ofDraft({ author: poor.key }, state)).toEqual(problem('AUTHOR', byAuthor!))
  })

  test('whose slot is over or a week of epochs away', () => {
    for (const far of [0n, slot - 1n, 1_690n, 2n ** 64n]) expect(ofDraft({ slot: far })?.code).toBe('SLOT')
  })

  test('whose body is too large in any way', () => {
    const tx = world.txOf(start, ada, 0, transfer(1n))
    const commit = world.commitOf(start, start.head, start.view.slot)
    const large = world.txOf(start, ada, 0, world.NO_BYTES(130_000))
    const bodies = [
      { txs: [], commit: [commit, commit] },
      { txs: new Array<Tx>(4_097).fill(tx), commit: [] },
      { txs: new Array<Tx>(9).fill(large), commit: [] },
    ]
    for (const body of bodies) {
      expect(ofDraft({ body })).toEqual(problem('SIZE', 'body'))
    }
  })
})

describe('a transaction is refused', () => {
  test('that locks or asks back nothing', () => {
    for (const kind of [2, 3]) expect(ofTx(ada, kind, lock(0, 0n))).toEqual(txWhere('AMOUNT', 'payload.amount'))
  })

  test('that would make an account where there are as many as can be', () => {
    const view = start.view.clone()
    // The same keys in a list that says it is full: what lies behind them is zero.
    view.accounts.key = Keys.getViewDU(new BranchNode(view.accounts.key.node.left, LeafNode.fromUint32(2 ** 30)))
    view.commit()
    const full = { ...start, view }
    const newcomer = world.keyNamed('new')
    expect(ofTx(ada, 0, transfer(1n, newcomer), {}, full)).toEqual(txWhere('FULL', 'payload.to'))
    expect(ofTx(ada, 0, transfer(1n), {}, full)).toBeNull()
    expect(ofTx(newcomer, 0, transfer(1n), { payer: [ada] }, full)).toEqual(txWhere('FULL', 'account'))
  })

  test('of a box with a bad key, of a report that nobody promised or whose VRF key is too young', () => {
    const box = payloads.BoxAddType.serialize({ box: ZERO.slice().fill(0xff), boxSig: world.NO_BYTES(64) })
    expect(ofTx(ada, 4, box)).toEqual(txWhere('KEY', 'payload.box'))
    const noReport = world.advanceTo(start, 1n)
    expect(ofTx(judge.key, 7, revealOf(0n), {}, noReport)).toEqual(txWhere('VALIDATOR', 'account'))
    const view = reported.view.clone()
    view.accounts.vrfFrom.set(4, 9n)
    view.reports.get(0).commitment = reportCommitment(judge.key, payloads.RevealType.defaultValue())
    view.commit()
    expect(ofTx(judge.key, 7, revealOf(0n), {}, { ...reported, view })).toEqual(txWhere('PROOF', 'payload.vrfProof'))
  })

  test('of a project that cannot be, or that its state or its sender does not allow', () => {
    const bonded = world.advance(start, [world.txOf(start, ada, 2, lock(3, world.tokens(10_000)))])
    const blank = { ...payloads.ProposalType.defaultValue(), work: 1n }
    for (const more of [{ kind: 8 }, { work: 0n }, { depth: 31 }])
      expect(ofTx(ada, 8, payloads.ProposalType.serialize({ ...blank, ...more }), {}, bonded)?.code).toBe('PROJECT')
    const live = { ...ProjectType.defaultValue(), status: 1 }
    const crafted = (...projects: (typeof live)[]): ChainState => {
      const view = start.view.clone()
      for (const project of projects) view.projects.push(ProjectType.toViewDU(project))
      view.commit()
      return { ...start, view }
    }
    const state = crafted({ ...live, status: 2 }, live)
    const tasks = (project: number, count: number) => payloads.TasksType.serialize({ project, count })
    expect(ofTx(ada, 9, vote(1, 2), {}, state)).toEqual(txWhere('PROJECT', 'payload.project'))
    for (const project of [0, 1, 3])
      expect(ofTx(ada, 10, tasks(project, 1), {}, state)).toEqual(txWhere('PROJECT', 'payload.project'))
    for (const count of [0, 1_025])
      expect(ofTx(ada, 10, tasks(2, count), {}, state)).toEqual(txWhere('AMOUNT', 'payload.count'))
    const newcomer = world.keyNamed('new')
    const known = world.advance(state, [world.txOf(state, ada, 0, transfer(10n ** 6n, newcomer))])
    expect(ofTx(newcomer, 10, tasks(2, 1), {}, known)).toEqual(txWhere('BALANCE', 'payload.count'))
    expect(ofTx(newcomer, 9, vote(2, 2), {}, known)).toEqual(txWhere('ACCOUNT', 'account'))
    // Full of votes that weigh as much: only a heavier one gets in.
    const votes = new Array(4_096).fill({ account: 1, utility: 2, epoch: 0n })
    expect(ofTx(ada, 9, vote(1, 2), {}, crafted({ ...live, votes }))).toEqual(txWhere('FULL', 'payload'))
    const dust = votes.with(7, { account: 5, utility: 2, epoch: 0n })
    const full = crafted({ ...live, votes: dust })
    expect(ofTx(ada, 9, vote(1, 2), {}, full)).toBeNull()
    // In one block: the second finds no lighter one left, and who is in may vote again.
    const [first, again] = [0n, 1n].map((nonce) => world.txOf(full, ada, 9, vote(1, 2), { nonce }))
    expect(ofTxs(full, first!, again!)).toBeNull()
    expect(ofTxs(full, first!, world.txOf(full, cyd, 9, vote(1, 2)))).toEqual(problem('FULL', 'body.txs[1].payload'))
  })
})

describe('a move of drilling is refused', () => {
  const [TASK, REPLICA] = [txWhere('TASK', 'payload.task'), txWhere('REPLICA', 'account')]
  const [PHASED, AGAIN] = [txWhere('PHASE', 'payload.task'), txWhere('TWICE', 'payload.task')]

  test('of an unknown task, of who was not drawn, or before its time', () => {
    for (const [kind, unknown, mine] of [
      [12, drillCommit({ task: ZERO }), drillCommit()],
      [13, drillReveal({ task: ZERO }), drillReveal()],
      [14, drillOpen([], { id: ZERO }), drillOpen([])],
    ] as const) {
      expect(ofDrill('ada', kind, unknown)).toEqual(TASK)
      expect(ofDrill('judge', kind, mine)).toEqual(REPLICA)
    }
    expect(ofDrill('ada', 13, drillReveal())).toEqual(REPLICA)
    expect(ofDrill('ada', 14, drillOpen([]))).toEqual(PHASED)
    const proven = drillCommit({ vrfProof: world.NO_BYTES(80).fill(1) })
    expect(ofDrill('ada', 12, proven)).toEqual(txWhere('PROOF', 'payload.vrfProof'))
    const committed = world.advance(drillers.state, [world.txOf(drillers.state, ada, 12, drillCommit())])
    expect(ofDrill('ada', 12, drillCommit(), committed)).toEqual(AGAIN)
    expect(ofDrill('ada', 13, drillReveal(), committed)).toEqual(PHASED)
  })

  test('that comes twice', () => {
    const at = drillers.with({})
    at.runTo(task.epoch + 3n)
    const { shown } = at.result('ada', task)
    const reveal = payloads.DrillRevealType.serialize({ task: task.id, ...shown, nonce: ZERO })
    const revealed = world.advance(at.state, [world.txOf(at.state, ada, 13, reveal)])
    expect(ofDrill('ada', 13, reveal, revealed)).toEqual(AGAIN)
    const open = drillOpen(asked.openings, asked.task)
    const opened = world.advance(asked.state, [world.txOf(asked.state, world.keyNamed(asked.name), 14, open)])
    expect(ofDrill(asked.name, 14, open, opened)).toEqual(AGAIN)
  })

  test('of an auditor without capacity, without a proof, or whom the lottery does not let in', () => {
    const params = { ...CHAIN_PRESETS.tiny, tasksPerEpoch: 1n, trustedStreak: 0n }
    const at = new Drillers(names.slice(0, 3), {}, { params }).runToReady()
    while (at.tasks().length === 0) at.runTo(at.state.view.epoch + 1n)
    const [pair] = at.tasks()
    at.runTo(pair!.epoch + 2n)
    const third = names.find((name) => !pair!.replicas.some(({ account }) => account === at.place(name)))!
    const audit = (vrfProof: Uint8Array) => drillCommit({ task: pair!.id, vrfProof })
    expect(ofDrill('judge', 12, audit(world.NO_BYTES(80)), at.state)).toEqual(txWhere('READY', 'account'))
    expect(ofDrill(third, 12, audit(world.NO_BYTES(80)), at.state)).toEqual(txWhere('PROOF', 'payload.vrfProof'))
    const alpha = auditAlpha(etaOf(at.state.view, at.state.view.epoch), pair!.id)
    const proof = world.proofOf(world.keyNamed(`${third} vrf`), alpha)
    expect(ofDrill(third, 12, audit(proof), at.state)).toEqual(txWhere('DRAW', 'payload.vrfProof'))
  })

  test('with openings of other places, other bytes or too few', () => {
    const wrong = (at: number) => txWhere('OPENING', `payload.openings[${at}]`)
    expect(ofOpening((openings) => openings)).toBeNull()
    expect(ofOpening((openings) => openings.toReversed())?.code).toBe('OPENING')
    expect(ofOpening((openings) => openings.with(2, { ...openings[2]!, bytes: ZERO }))).toEqual(wrong(2))
    expect(ofOpening((openings) => openings.with(7, { ...openings[7]!, tracePath: [] }))).toEqual(wrong(7))
  })
})
