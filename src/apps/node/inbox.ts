import { toHex } from '../../core/bytes/hex.ts'
import { decodeBlock } from '../../core/chain/blockBytes.ts'
import { whenDue } from '../../core/chain/consensus/consensusNode.ts'
import type { Problem, ProblemCode } from '../../core/chain/problems.ts'
import { blockHash } from '../../core/chain/signing.ts'
import type { Header, Tx } from '../../core/chain/ssz.ts'
import { decodeQuorum, decodeVote } from '../../core/chain/wire/messages.ts'
import type { Submitted } from '../../ports/chainNode.ts'
import type { Judged, Topic } from '../../ports/network.ts'
import type { ChainKeeper } from './chainKeeper.ts'
import { evidenceOfHeaders } from './evidence.ts'
import type { Syncer } from './syncer.ts'
import { Twins } from './twins.ts'

/** What the inbox asks of its node. */
interface Owner {
  readonly slot: number
  readonly genesis: { readonly params: { readonly roundSlots: bigint } }
  untilSlot(slot: number): Promise<void>
  offer(bytes: Uint8Array): Promise<Submitted>
  prepare(txs: readonly Tx[]): Promise<void>
  reportOffence(payload: Uint8Array): Promise<void>
  background(work: () => Promise<void>): void
}

interface InboxDeps {
  readonly keeper: ChainKeeper
  readonly syncer: Syncer
  readonly node: Owner
}

/** Refusals of a transaction by its bytes alone, which every pool looks at: who forwards it does not check. */
const ALWAYS_WRONG: ReadonlySet<ProblemCode> = new Set(['MALFORMED', 'SIZE', 'FEE', 'UNKNOWN_KIND', 'RESERVED'])
/** Other signatures in it are looked at when its turn comes, which a pool that is behind cannot know. */
const ENVELOPE: ReadonlySet<string> = new Set(['sig', 'payerSig'])
const isAlwaysWrong = ({ code, where }: Problem) =>
  ALWAYS_WRONG.has(code) || (code === 'SIGNATURE' && ENVELOPE.has(where))

/** A vote of an unknown set may be anybody's: it has its sender asked where it stands once in so many rounds. */
const ROUNDS_BETWEEN_LOOKS = 8

/** Judges what comes by gossip: taken in full first, then forwarded (§3.11). */
export class Inbox {
  private readonly deps: InboxDeps
  private readonly headers = new Twins<Header>()
  private readonly votes = new Twins<true>()
  /** By peer, the round of the last vote for which it was asked where it stands. */
  private readonly looks = new Map<string, number>()
  /** The last slot of which a primary block came. */
  lastPrimary = -1

  constructor(deps: InboxDeps) {
    this.deps = deps
  }

  take(topic: Topic, data: Uint8Array, from: string): Promise<Judged> {
    if (topic === 'blocks') return this.takeBlock(data, from)
    if (topic === 'votes') return this.takeVote(data, from)
    return topic === 'commits' ? this.takeCommit(data, from) : this.takeTx(data)
  }

  forgetBefore(slot: number, round: number): void {
    this.headers.forgetBefore(slot)
    this.votes.forgetBefore(round)
    for (const [peer, at] of this.looks) if (at + ROUNDS_BETWEEN_LOOKS <= round) this.looks.delete(peer)
  }

  private async takeBlock(data: Uint8Array, from: string): Promise<Judged> {
    const { keeper, syncer, node } = this.deps
    const block = decodeBlock(data)
    if (block === null) return 'reject'
    const { header } = block
    const [id, name] = [toHex(blockHash(header)), `${header.slot}/${toHex(header.author)}`]
    const due = header.slot > BigInt(node.slot) + 1n ? 'drop' : whenDue(Number(header.slot), node.slot)
    if (due === 'drop' || !this.headers.isWelcome(name, id)) return 'ignore'
    const slot = Number(header.slot)
    if (due === 'wait') await node.untilSlot(slot)
    await node.prepare(block.body.txs)
    const [result] = await keeper.take([data])
    if (result?.kind === 'added') {
      if (result.facts.win !== null) this.lastPrimary = Math.max(this.lastPrimary, slot)
      const twin = this.headers.note(name, slot, id, header)
      if (twin !== null) await node.reportOffence(evidenceOfHeaders([twin, header]))
      return 'accept'
    }
    if (result?.kind === 'orphan') node.background(() => syncer.missing(result.parent, data, from))
    return result?.kind === 'refused' && result.problem.code !== 'OLD' ? 'reject' : 'ignore'
  }

  private async takeVote(data: Uint8Array, from: string): Promise<Judged> {
    const { keeper, syncer, node } = this.deps
    const vote = decodeVote(data)
    if (vote === null) return 'reject'
    const now = Math.floor(node.slot / Number(node.genesis.params.roundSlots))
    if (Math.abs(vote.round - now) > 1) return 'ignore'
    const name = `${vote.kind}/${vote.set}/${vote.round}/${vote.voter}`
    const id = `${vote.target}/${vote.lockRound}`
    const isVoter = keeper.isVoter(vote.set, vote.voter)
    if (isVoter === null && !this.looks.has(from)) {
      this.looks.set(from, now)
      node.background(() => syncer.withPeer(from))
    }
    if (isVoter !== true || !this.votes.isWelcome(name, id)) return 'ignore'
    if (!keeper.isSigned(vote)) return 'reject'
    this.votes.note(name, vote.round, id, true)
    await keeper.onVote(vote, from)
    return 'accept'
  }

  private async takeCommit(data: Uint8Array, from: string): Promise<Judged> {
    const quorum = decodeQuorum(data)
    if (quorum === null) return 'reject'
    const result = await this.deps.keeper.onQuorum(quorum, from)
    return result === 'taken' ? 'accept' : result === 'wrong' ? 'reject' : 'ignore'
  }

  private async takeTx(data: Uint8Array): Promise<Judged> {
    const result = await this.deps.node.offer(data)
    if (result.kind === 'taken') return 'accept'
    return result.kind === 'refused' && isAlwaysWrong(result.problem) ? 'reject' : 'ignore'
  }
}
