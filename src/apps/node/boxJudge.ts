import { toHex } from '../../core/bytes/hex.ts'
import { sha256, taggedHash } from '../../core/bytes/sha256.ts'
import { u64be } from '../../core/chain/bigEndian.ts'
import { type ChainState, etaOf, findAccount, findBox, located } from '../../core/chain/chainState.ts'
import type { ChainParams } from '../../core/chain/params.ts'
import { compareBytes } from '../../core/chain/snapshots.ts'
import { boxAlpha, isBoxDrawn, reportCommitment } from '../../core/chain/transactions/boxes.ts'
import { EntryType, ReportType, RevealType } from '../../core/chain/transactions/payloads.ts'
import { decodeBoxes, encodeBoxQuestion } from '../../core/chain/wire/boxQuestions.ts'
import { workOf } from '../../core/chain/workUnits.ts'
import type { ChainNode } from '../../ports/chainNode.ts'
import type { Log } from '../../ports/log.ts'
import type { Network } from '../../ports/network.ts'
import { stateAtSlot } from './blockMaker.ts'
import { type CheckDeps, type CheckedBox, checkBox } from './checkBox.ts'
import { Sender } from './sender.ts'

const [REPORT, REVEAL] = [6, 7]
/** A box is drawn for this part of what it showed: it needs time for what goes wrong, and for its owner. */
const DRILLED_PART = 2n
/** A box that was slower before grows into what it shows: one lucky moment would draw it for what it cannot do. */
const MOST_GROWTH = 2n
const MOST_ENTRIES = 512
const BOXES_LIMITS = { mostBytes: 4_096, timeoutMs: 2_000 }

type Report = ReturnType<typeof RevealType.defaultValue>
type Entry = Report['entries'][number]

export interface JudgeDeps extends Omit<CheckDeps, 'network'> {
  readonly node: ChainNode
  readonly network: Pick<Network, 'request' | 'peers'>
  readonly log: Log
  /** Keeps the record of a check under the name that the chain has of it. */
  keep(name: string, record: string): void
}

/** A validator (§4.5): checks the boxes that it is drawn for, all at once, and reports by commitment and reveal. */
export class BoxJudge {
  private readonly deps: JudgeDeps
  private readonly sender: Sender
  /** By epoch: what was found, until it was shown. */
  private readonly reports = new Map<bigint, Report>()
  private judged = -1n
  private isActing = false
  private readonly unsubscribe: () => void

  constructor(deps: JudgeDeps) {
    this.deps = deps
    this.sender = new Sender(deps.node, deps.keys.signer)
    this.unsubscribe = deps.node.subscribe(({ kind }) => {
      if (kind === 'head') void this.act()
    })
  }

  stop(): void {
    this.unsubscribe()
  }

  private async act(): Promise<void> {
    const { node, log, keys } = this.deps
    if (this.isActing || node.status().isSyncing) return
    this.isActing = true
    try {
      const state = stateAtSlot(await node.headState(), BigInt(node.status().slot))
      const place = findAccount(located(state), keys.signer.publicKey)
      if (place === -1) return
      await this.show(state, place)
      if (state.view.validators.getAll().includes(place)) await this.judge(state, place)
    } catch (error) {
      log.error('a check failed', { why: error instanceof Error ? error.message : String(error) })
    } finally {
      this.isActing = false
    }
  }

  /** What was committed to in the last epoch. */
  private async show(state: ChainState, place: number): Promise<void> {
    const last = state.view.epoch - 1n
    for (const epoch of this.reports.keys()) if (epoch < last) this.reports.delete(epoch)
    const report = this.reports.get(last)
    const isOpen = state.view.reports
      .getAllReadonlyValues()
      .some(({ validator, epoch, revealed }) => validator === place && epoch === last && revealed === 0)
    if (report === undefined || !isOpen) return
    await this.send(state, { kind: REVEAL, payload: RevealType.serialize(report) }, `reveal ${last}`)
  }

  private async judge(state: ChainState, place: number): Promise<void> {
    const { view, params } = state
    const { epoch, accounts } = view
    const found = this.reports.get(epoch)
    const isKnown = view.reports.getAllReadonlyValues().some((kept) => kept.validator === place && kept.epoch === epoch)
    if (found !== undefined && !isKnown) await this.report(state, found)
    if (this.judged >= epoch || accounts.vrfFrom.get(place) > epoch) return
    const { keys, node } = this.deps
    const alpha = boxAlpha(etaOf(view, epoch))
    const beta = keys.vrfKey.evaluate(alpha)
    // At a time of its own, early enough for the report.
    const wait = BigInt(beta[0]!) % (params.epochSlots / 4n + 1n)
    if (BigInt(node.status().slot) < epoch * params.epochSlots + wait) return
    this.judged = epoch
    const drawn = view.boxes.getAllReadonlyValues().filter(({ account, key }) => account !== 0 && isBoxDrawn(beta, key))
    if (drawn.length === 0) return
    const report = await this.check(
      state,
      drawn.slice(0, MOST_ENTRIES).map(({ key }) => key),
      keys.vrfKey.prove(alpha),
    )
    this.reports.set(epoch, report)
    await this.report(state, report)
  }

  private async report(state: ChainState, report: Report): Promise<void> {
    const { epoch } = report
    const commitment = reportCommitment(this.deps.keys.signer.publicKey, report)
    await this.send(state, { kind: REPORT, payload: ReportType.serialize({ epoch, commitment }) }, `report ${epoch}`)
  }

  /** All boxes at once: one machine behind two of them shows what it has to neither. */
  private async check(state: ChainState, boxes: readonly Uint8Array[], vrfProof: Uint8Array): Promise<Report> {
    const { keys, log } = this.deps
    const { epoch } = state.view
    const places = await this.findBoxes()
    const entries = await Promise.all(
      boxes.map(async (box) => {
        const peer = places.get(toHex(box))
        const shown = peer === undefined ? null : await checkBox(this.deps, { peer, box, epoch, vrfProof })
        if (shown === 'busy') return []
        const entry = entryOf(box, shown, state.params, this.lastOf(state, box))
        if (shown !== null) this.deps.keep(toHex(shown.certificate), shown.record)
        log.info('checked a box', { box: toHex(box), epoch: String(epoch), capacity: String(entry.capacity) })
        return [entry]
      }),
    )
    const salt = sha256(keys.signer.sign(taggedHash('ts1/reportSalt', state.genesisHash, u64be(epoch))))
    return { epoch, salt, vrfProof, entries: entries.flat().sort((a, b) => compareBytes(a.box, b.box)) }
  }

  /** What this validator last said of a box. */
  private lastOf(state: ChainState, box: Uint8Array): bigint {
    const { view, boxPlaces } = state
    const place = findAccount(located(state), this.deps.keys.signer.publicKey)
    const { reports } = view.boxes.getReadonly(findBox({ state: view, boxPlaces }, box))
    return reports.getAllReadonlyValues().find(({ validator }) => validator === place)?.capacity ?? 0n
  }

  /** Which peer says that it has which box; a box signs for itself later. */
  private async findBoxes(): Promise<ReadonlyMap<string, string>> {
    const { network } = this.deps
    const question = encodeBoxQuestion({ kind: 'boxes' })
    const told = await Promise.all(
      network.peers().map(async (peer) => {
        const answer = await network.request(peer, question, BOXES_LIMITS)
        return (decodeBoxes(answer ?? new Uint8Array(0)) ?? []).map((box) => [toHex(box), peer] as const)
      }),
    )
    return new Map(told.flat())
  }

  private async send(state: ChainState, what: { kind: number; payload: Uint8Array }, about: string): Promise<void> {
    const refusal = await this.sender.send(state, what, about)
    if (refusal !== null) this.deps.log.warn('the chain would refuse it', { kind: what.kind, ...refusal })
  }
}

/** What a validator says of a box: 0 where it showed nothing. */
function entryOf(box: Uint8Array, shown: CheckedBox | null, { slotMs, epochSlots }: ChainParams, last: bigint): Entry {
  const blank = { ...EntryType.defaultValue(), box }
  if (shown === null) return blank
  const rate = BigInt(Math.floor(shown.operationsPerSecond))
  const found = workOf({ int8: (rate * slotMs * epochSlots) / 1_000n }) / DRILLED_PART
  const capacity = last > 0n && found > MOST_GROWTH * last ? MOST_GROWTH * last : found
  if (capacity === 0n) return blank
  const { certificate, boxSig } = shown
  return { ...blank, count: 1, rates: [rate, 0n, 0n, 0n, 0n], capacity, score: capacity, certificate, boxSig }
}
