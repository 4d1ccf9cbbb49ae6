import { KEY_BYTES } from '../../core/bytes/ed25519.ts'
import { fromHex } from '../../core/bytes/hex.ts'
import { type ChainBlock, contains, pathBetween } from '../../core/chain/consensus/chainBlock.ts'
import { type Action, ConsensusNode, type FinalityRules, whenDue } from '../../core/chain/consensus/consensusNode.ts'
import { type Quorum, signedVote, spelledVote, type Vote } from '../../core/chain/consensus/vote.ts'
import type { VotePair } from '../../core/chain/consensus/voteBook.ts'
import { voteMessage } from '../../core/chain/signing.ts'
import { EventRing } from './eventRing.ts'
import type { SimAccount, SimLedger } from './simLedger.ts'
import type { Chance } from './xoshiro.ts'

/** Ticks of the virtual clock are 10 ms. */
export const TICK_MS = 10

/** Votes whose signatures are known to be right: those of a few rounds of hundreds of nodes. */
const MOST_GENUINE = 1 << 13

/** How messages travel. */
export interface NetworkRules {
  /** Shortest and longest delay, in ms. */
  readonly delayMs: readonly [number, number]
  /** Share of messages that never arrive. */
  readonly loss: number
  /** The part of the network a node is in at a slot: messages between parts are lost. */
  partOf?(node: number, slot: number): number
}

interface Sent<Kind extends string, What> {
  readonly kind: Kind
  /** The node that sent it. */
  readonly from: number
  readonly what: What
}

/** All have the same fields, so that the engine reads a hundred million of them without a search. */
type Message =
  | Sent<'block', { readonly block: ChainBlock; readonly commit: Quorum | null }>
  | Sent<'vote', Vote>
  | Sent<'quorum', Quorum>
  /** "I know this block as final: what do you know after it?" */
  | Sent<'ask', ChainBlock>
  | Sent<'tell', { readonly blocks: readonly ChainBlock[]; readonly quorums: readonly Quorum[] }>

/** A slot begins, or a third of it is over; from nobody. */
type Timer = Sent<'slot', number> | Sent<'secondary', number>
const CLOCK = -1

/** How a node acts where the protocol leaves the choice to its owner, and where it breaks it. */
export interface Behaviour {
  readonly name: string
  /** It may make a block of this slot. */
  propose(node: SimNode, slot: number, isPrimary: boolean): void
  /** The protocol asks it for this vote. */
  vote(node: SimNode, vote: Omit<Vote, 'signature'>): void
  /** A block reached it. */
  onBlock?(node: SimNode, block: ChainBlock): void
  onSlot?(node: SimNode, slot: number): void
}

export interface SimulationOptions {
  readonly ledger: SimLedger
  readonly accounts: readonly SimAccount[]
  readonly rules: FinalityRules
  readonly slotMs: number
  readonly network: NetworkRules
  readonly behaviourOf: (node: number) => Behaviour
  readonly honest: Behaviour
  readonly chance: Chance
}

/** Two final blocks of honest nodes that exclude each other. */
export interface Violation {
  readonly slot: number
  readonly event: number
  readonly nodes: readonly [number, number]
  readonly blocks: readonly [string, string]
}

/** A node of the run: the consensus of `core`, and what its owner does with it. */
export class SimNode {
  readonly consensus: ConsensusNode
  readonly behaviour: Behaviour
  readonly number: number
  readonly account: SimAccount
  readonly simulation: Simulation
  /** The last slot with a primary block that it has seen. */
  lastPrimary = -1
  private askedAt = -1
  private readonly told = new Map<number, ChainBlock>()

  constructor(simulation: Simulation, number: number, behaviour: Behaviour) {
    const { ledger, rules, accounts } = simulation.options
    this.simulation = simulation
    this.number = number
    this.behaviour = behaviour
    this.account = accounts[number]!
    const { genesis, viewOf } = ledger
    this.consensus = new ConsensusNode({ rules, genesis, viewOf, voter: this.account.key })
  }

  /** A block of its own that nobody has yet; null if it has no right to one on this branch. */
  make(parent: ChainBlock, slot: number, isPrimary: boolean, salt = 0): ChainBlock | null {
    const { consensus, account, simulation } = this
    const commits = consensus.quorumsSince(0)
    const offences = [...simulation.offences.values()]
    return simulation.options.ledger.make({ account, parent, slot, isPrimary, salt, commits, offences })
  }

  sign(vote: Omit<Vote, 'signature'>): Vote {
    const { simulation, account } = this
    const message = voteMessage(simulation.options.ledger.genesisHash, spelledVote(vote))
    const signed = signedVote(vote, account.signer.sign(message))
    simulation.lastSigned = { vote: signed, message }
    return signed
  }

  publish(block: ChainBlock | null, to?: (node: number) => boolean): void {
    if (block === null) return
    const { commit } = this.consensus
    this.take(block)
    this.simulation.send({ kind: 'block', from: this.number, what: { block, commit } }, to)
  }

  sendVote(vote: Vote, to?: (node: number) => boolean, delayMs = 0): void {
    this.act(this.consensus.onVote(vote), this.number)
    this.simulation.send({ kind: 'vote', from: this.number, what: vote }, to, delayMs)
  }

  handle(event: Message | Timer): void {
    const { kind, from, what } = event
    if (kind === 'vote') this.act(this.consensus.onVote(what), from)
    else if (kind === 'slot') this.beginSlot(what)
    else if (kind === 'secondary') this.offerSecondary(what)
    else if (kind === 'block') this.receive(event)
    else if (kind === 'quorum') this.act(this.consensus.onQuorum(what), from)
    else if (kind === 'ask') this.tell(from, what)
    else this.learn(event)
  }

  private receive(message: Extract<Message, { kind: 'block' }>): void {
    if (this.isEarly(message)) return
    const { block, commit } = message.what
    this.take(block, message.from)
    if (commit !== null) this.act(this.consensus.onQuorum(commit), message.from)
    this.behaviour.onBlock?.(this, block)
  }

  private learn({ from, what: { blocks, quorums } }: Extract<Message, { kind: 'tell' }>): void {
    for (const block of blocks) this.take(block)
    for (const quorum of quorums) this.act(this.consensus.onQuorum(quorum), from)
  }

  /** One slot ahead waits for its slot, more is dropped. */
  private isEarly(message: Extract<Message, { kind: 'block' }>): boolean {
    const due = whenDue(message.what.block.slot, this.simulation.slot)
    if (due === 'wait') this.simulation.postpone(this.number, message)
    return due !== 'now'
  }

  take(block: ChainBlock, from: number | null = null): void {
    if (block.win !== null && block.slot > this.lastPrimary) this.lastPrimary = block.slot
    this.act(this.consensus.onBlock(block), from)
  }

  private beginSlot(slot: number): void {
    this.act(this.consensus.onSlot(slot), null)
    const { ledger } = this.simulation.options
    if (ledger.isLeader(this.account, this.consensus.head, slot)) this.behaviour.propose(this, slot, true)
    this.behaviour.onSlot?.(this, slot)
  }

  private offerSecondary(slot: number): void {
    if (this.lastPrimary >= slot || this.consensus.head.slot >= slot) return
    const author = this.simulation.options.ledger.secondaryOf(this.consensus.head, slot)
    if (author === this.number) this.behaviour.propose(this, slot, false)
  }

  private act(actions: readonly Action[], from: number | null): void {
    for (const action of actions) {
      if (action.kind === 'vote') this.behaviour.vote(this, action.vote)
      else if (action.kind === 'final') this.simulation.noteFinal(this, action.block)
      else if (action.kind === 'behind') this.ask(from)
      else if (action.kind === 'ahead') this.help(from)
      else if (action.kind === 'quorum')
        this.simulation.send({ kind: 'quorum', from: this.number, what: action.quorum })
      else if (action.kind === 'offence') this.simulation.noteOffence(action.proof)
      else this.simulation.conflicts++
    }
  }

  /** At most one question a slot: the answer brings everything since the last final block. */
  private ask(from: number | null): void {
    const { slot } = this.simulation
    if (from === null || this.askedAt === slot) return
    this.askedAt = slot
    this.simulation.sendTo(from, { kind: 'ask', from: this.number, what: this.consensus.final })
  }

  private help(from: number | null): void {
    const { final, commit } = this.consensus
    if (from === null || commit === null || this.told.get(from) === final) return
    this.told.set(from, final)
    this.simulation.sendTo(from, { kind: 'quorum', from: this.number, what: commit })
  }

  private tell(to: number, final: ChainBlock): void {
    const blocks = pathBetween(final, this.consensus.head) ?? []
    const quorums = this.consensus.quorumsSince(final.epoch)
    this.simulation.sendTo(to, { kind: 'tell', from: this.number, what: { blocks, quorums } })
  }
}

/** Many nodes on one virtual clock. The same options and seed lead to the same events. */
export class Simulation {
  readonly options: SimulationOptions
  readonly nodes: readonly SimNode[]
  /** The first proof against each voter that was caught. */
  readonly offences = new Map<string, VotePair>()
  violation: Violation | null = null
  conflicts = 0
  /** Events handed out, and messages that were refused because a signature was wrong. */
  events = 0
  refused = 0
  slot = 0
  /** The rules of the network in the numbers that chance gives. */
  private readonly travel: {
    readonly shortest: number
    readonly span: number
    readonly loss: number
    readonly partOf: NetworkRules['partOf']
  }
  /** What was signed of the last vote: to spell it costs more than a stand-in's signature. */
  lastSigned: { readonly vote: Vote; readonly message: Uint8Array } | null = null
  private readonly genuine = new Set<Vote>()
  private readonly ring = new EventRing<Message | Timer>()
  private highest: { readonly node: number; readonly block: ChainBlock } | null = null

  constructor(options: SimulationOptions) {
    this.options = options
    const { delayMs, loss, partOf } = options.network
    this.travel = { shortest: delayMs[0], span: (delayMs[1] - delayMs[0]) / 2 ** 32, loss: loss * 2 ** 32, partOf }
    this.nodes = options.accounts.map((_, number) => new SimNode(this, number, options.behaviourOf(number)))
  }

  /** The final block furthest on, as honest nodes know it. */
  get final(): ChainBlock {
    return this.highest?.block ?? this.options.ledger.genesis
  }

  isHonest(node: number): boolean {
    return this.nodes[node]!.behaviour === this.options.honest
  }

  /** Runs slots up to `end`, it excluded. It ends early if two final blocks exclude each other. */
  run(end: number, afterSlot?: (slot: number) => void): void {
    const ticks = Math.round(this.options.slotMs / TICK_MS)
    const handle = (to: number, what: Message | Timer) => {
      this.events++
      this.nodes[to]!.handle(what)
    }
    for (; this.slot < end; this.slot++) {
      if (this.slot > 0) {
        const [start, third] = [
          { kind: 'slot', from: CLOCK, what: this.slot } as const,
          { kind: 'secondary', from: CLOCK, what: this.slot } as const,
        ]
        for (let to = 0; to < this.nodes.length; to++) this.ring.put(0, to, start)
        for (let to = 0; to < this.nodes.length; to++) this.ring.put(Math.floor(ticks / 3), to, third)
      }
      this.ring.runUntil((this.slot + 1) * ticks, handle)
      if (this.violation !== null) return
      afterSlot?.(this.slot)
    }
  }

  /** To all others, or to those that `to` picks; some later, some never. */
  send(message: Message, to?: (node: number) => boolean, delayMs = 0): void {
    if (!this.isGenuine(message)) return void this.refused++
    for (let node = 0; node < this.nodes.length; node++)
      if (node !== message.from && (to === undefined || to(node))) this.post(node, message, delayMs)
  }

  sendTo(to: number, message: Message): void {
    this.post(to, message, 0)
  }

  /** Hands the message over when the next slot begins. */
  postpone(to: number, message: Message): void {
    const ticks = Math.round(this.options.slotMs / TICK_MS)
    this.ring.put((this.slot + 1) * ticks - this.ring.now, to, message)
  }

  private post(to: number, message: Message, delayMs: number): void {
    const { shortest, span, loss, partOf } = this.travel
    const { chance } = this.options
    if (loss > 0 && chance.u32() < loss) return
    if (partOf !== undefined && partOf(message.from, this.slot) !== partOf(to, this.slot)) return
    const ticks = Math.round((delayMs + shortest + chance.u32() * span) / TICK_MS)
    this.ring.put(ticks < 1 ? 1 : ticks, to, message)
  }

  /** Blocks were checked by the ledger; votes are checked here, once for all who get them. */
  private isGenuine(message: Message): boolean {
    if (message.kind === 'vote') return this.isSigned(message.what)
    return message.kind !== 'quorum' || message.what.votes.every((vote) => this.isSigned(vote))
  }

  private isSigned(vote: Vote): boolean {
    if (this.genuine.has(vote)) return true
    const { genesisHash, crypto } = this.options.ledger
    const isLast = this.lastSigned?.vote === vote
    const message = isLast ? this.lastSigned!.message : voteMessage(genesisHash, spelledVote(vote))
    const isRight = crypto.checkSignature(vote.signature, message, fromHex(vote.voter, KEY_BYTES)!)
    // A vote that was forgotten is checked again.
    if (this.genuine.size >= MOST_GENUINE) this.genuine.clear()
    if (isRight) this.genuine.add(vote)
    return isRight
  }

  noteOffence(proof: VotePair): void {
    const { voter } = proof[0]
    if (!this.offences.has(voter)) this.offences.set(voter, proof)
  }

  /** What honest nodes hold final must be one chain. */
  noteFinal({ number }: SimNode, block: ChainBlock): void {
    if (!this.isHonest(number)) return
    const before = this.highest
    if (before === null || contains(block, before.block)) this.highest = { node: number, block }
    else if (!contains(before.block, block))
      this.violation ??= {
        slot: this.slot,
        event: this.events,
        nodes: [before.node, number],
        blocks: [before.block.id, block.id],
      }
  }
}
