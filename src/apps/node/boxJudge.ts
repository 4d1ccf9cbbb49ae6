import { toHex } from '../../core/bytes/hex.ts'
import { sha256, taggedHash } from '../../core/bytes/sha256.ts'
import { u64be } from '../../core/chain/bigEndian.ts'
import { type ChainState, etaOf, findAccount, located } from '../../core/chain/chainState.ts'
import { faded } from '../../core/chain/epoch/settleScores.ts'
import type { ChainParams } from '../../core/chain/params.ts'
import { compareBytes } from '../../core/chain/snapshots.ts'
import { decodeExactly } from '../../core/chain/ssz.ts'
import { boxAlpha, boxDraw, isBoxDrawn, reportCommitment } from '../../core/chain/transactions/boxes.ts'
import { EntryType, ReportType, RevealType, UnshownType } from '../../core/chain/transactions/payloads.ts'
import { boxAtMessage, decodeBoxes, encodeBoxQuestion } from '../../core/chain/wire/boxQuestions.ts'
import { workOf } from '../../core/chain/workUnits.ts'
import type { ChainNode } from '../../ports/chainNode.ts'
import type { Log } from '../../ports/log.ts'
import type { Network } from '../../ports/network.ts'
import { within } from '../shared/within.ts'
import { stateAtSlot } from './blockMaker.ts'
import type { CheckDeps, CheckedBox } from './boxTrial.ts'
import { checkBoxes } from './checkBoxes.ts'
import { Sender } from './sender.ts'

const [REPORT, REVEAL] = [6, 7]
/** A box is drawn for this part of what it showed: it needs time for what goes wrong, and for its owner. */
const DRILLED_PART = 2n
const MOST_ENTRIES = 512
/** 8 chunks of each box are computed again, some ms each, and the report has to come into a block. */
const LONGEST_CHECK_MS = 300_000n
const BOXES_LIMITS = { mostBytes: 1_024, timeoutMs: 1_000 }

type Report = ReturnType<typeof RevealType.defaultValue>
type Entry = Report['entries'][number]

export interface JudgeDeps extends Omit<CheckDeps, 'network'> {
  readonly node: ChainNode
  readonly network: Pick<Network, 'request' | 'peers'>
  readonly log: Log
  /** Keeps the record of a check under the name that the chain has of it. */
  keep(name: string, record: string): void
  /** What was found and is not shown yet, over a restart: without it a report that was committed to is not paid. */
  readonly unshown: Unshown
}

export interface Unshown {
  /** What was written last; nothing at first. */
  read(): Uint8Array
  write(reports: Uint8Array): void
}

/** A validator (§4.5): checks the boxes that it is drawn for, all at once, and reports by commitment and reveal. */
export class BoxJudge {
  private readonly deps: JudgeDeps
  private readonly sender: Sender
  /** By epoch: what was found, until it was shown. */
  private readonly reports = new Map<bigint, Report>()
  private judged = -1n
  private isActing = false
  private readonly stopped = new AbortController()
  private readonly unsubscribe: () => void

  constructor(deps: JudgeDeps) {
    this.deps = deps
    this.sender = new Sender(deps.node, deps.keys.signer)
    for (const report of decodeExactly(UnshownType, deps.unshown.read()) ?? []) {
      this.reports.set(report.epoch, report)
      this.judged = report.epoch
    }
    this.unsubscribe = deps.node.subscribe(({ kind }) => {
      if (kind === 'head') void this.act()
    })
  }

  stop(): void {
    this.unsubscribe()
    this.stopped.abort()
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
      if (this.stopped.signal.aborted) return
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
    const { keys, node, clock } = this.deps
    const alpha = boxAlpha(etaOf(view, epoch))
    const beta = keys.vrfKey.evaluate(alpha)
    const startMs = startOf(beta, params)
    if (BigInt(node.status().slot) < epoch * params.epochSlots + startMs / params.slotMs) return
    this.judged = epoch
    const drawn = drawnBoxes(state, place, beta)
    await clock.sleep(Number(startMs % params.slotMs), this.stopped.signal)
    const report = await this.check(state, drawn, keys.vrfKey.prove(alpha))
    this.reports.set(epoch, report)
    this.deps.unshown.write(UnshownType.serialize([...this.reports.values()].slice(-2)))
    await this.report(state, report)
  }

  private async report(state: ChainState, report: Report): Promise<void> {
    const { epoch } = report
    const commitment = reportCommitment(this.deps.keys.signer.publicKey, report)
    await this.send(state, { kind: REPORT, payload: ReportType.serialize({ epoch, commitment }) }, `report ${epoch}`)
  }

  private async check(state: ChainState, drawn: readonly DrawnBox[], vrfProof: Uint8Array): Promise<Report> {
    const { keys, log, keep } = this.deps
    const { epoch } = state.view
    const places = await this.findBoxes(state, new Set(drawn.map(({ key }) => toHex(key))))
    const boxes = boxesOfReport(drawn, (box) => places.has(toHex(box)))
    const found = boxes.filter((box) => places.has(toHex(box)))
    const orders = found.map((box) => ({ peer: places.get(toHex(box))!, box, epoch, vrfProof }))
    const shown = await checkBoxes(this.deps, orders)
    const showed = new Map(found.map((box, i) => [toHex(box), shown[i]!]))
    const entries = boxes.map((box) => entryOf(box, showed.get(toHex(box)) ?? null, state.params))
    for (const checked of shown) if (checked !== null) keep(toHex(checked.certificate), checked.record)
    for (const { box, capacity } of entries)
      log.info('checked a box', { box: toHex(box), epoch: String(epoch), capacity: String(capacity) })
    const salt = sha256(keys.signer.sign(taggedHash('ts1/reportSalt', state.genesisHash, u64be(epoch))))
    return { epoch, salt, vrfProof, entries: entries.sort((a, b) => compareBytes(a.box, b.box)) }
  }

  /** At which peer each of these boxes is, by its own signature: what others say of it counts for nothing. */
  private async findBoxes(state: ChainState, wanted: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    const { network, checkSignature } = this.deps
    const { genesisHash, view } = state
    const question = encodeBoxQuestion({ kind: 'boxes' })
    const told = await Promise.all(
      network.peers().map(async (peer) => {
        const answer = await within(
          this.deps.clock,
          BOXES_LIMITS.timeoutMs,
          network.request(peer, question, BOXES_LIMITS),
        )
        return (decodeBoxes(answer ?? new Uint8Array(0)) ?? []).map((here) => ({ ...here, peer }))
      }),
    )
    const isTrue = ({ box, sig, peer }: (typeof told)[number][number]) =>
      wanted.has(toHex(box)) && checkSignature(sig, boxAtMessage(genesisHash, view.epoch, box, peer), box)
    return new Map(told.flat().flatMap((here) => (isTrue(here) ? [[toHex(here.box), here.peer] as const] : [])))
  }

  private async send(state: ChainState, what: { kind: number; payload: Uint8Array }, about: string): Promise<void> {
    const refusal = await this.sender.send(state, what, about)
    if (refusal !== null) this.deps.log.warn('the chain would refuse it', { kind: what.kind, ...refusal })
  }
}

/**
 * When a validator begins, in ms from the start of the epoch: not before clocks that go a little wrong agree on the epoch,
 * early enough for the report, and at a time of its own, since a box that two check at once shows each a part, and one
 * that knew when it is over could leave.
 */
function startOf(beta: Uint8Array, { slotMs, epochSlots }: ChainParams): bigint {
  const chance = BigInt(new DataView(beta.buffer, beta.byteOffset).getUint32(0))
  const epochMs = slotMs * epochSlots
  const [earliest, short, long] = [slotMs / 2n, epochMs / 4n, (epochMs * 5n) / 6n - LONGEST_CHECK_MS]
  const latest = long > short ? long : short
  return earliest + ((chance * (latest - earliest)) >> 32n)
}

interface DrawnBox {
  readonly key: Uint8Array
  /** What is left of the score that this validator gave it. */
  readonly score: bigint
}

/** The boxes that a validator is drawn for, in an order that changes with every draw. */
function drawnBoxes({ view }: ChainState, place: number, beta: Uint8Array): DrawnBox[] {
  const drawn = view.boxes.getAllReadonlyValues().filter(({ account, key }) => account !== 0 && isBoxDrawn(beta, key))
  const scoreOf = ({ reports }: (typeof drawn)[number]) => {
    const mine = reports.find(({ validator }) => validator === place)
    return mine === undefined ? 0n : faded(mine.score, view.epoch - mine.epoch)
  }
  return drawn
    .map((box) => ({ key: box.key, score: scoreOf(box), draw: boxDraw(beta, box.key) }))
    .sort((a, b) => compareBytes(a.draw, b.draw))
}

/**
 * Those that a report has room for: boxes that are there, then those that have most to lose. Of a box without a score a 0
 * says nothing new, so that boxes which are only registered crowd nobody out.
 */
function boxesOfReport(drawn: readonly DrawnBox[], isThere: (box: Uint8Array) => boolean): Uint8Array[] {
  const there = drawn.filter(({ key }) => isThere(key))
  const away = drawn.filter(({ key }) => !isThere(key)).sort((a, b) => Number(b.score - a.score))
  return [...there, ...away].slice(0, MOST_ENTRIES).map(({ key }) => key)
}

/** What a validator says of a box: 0 where it showed nothing. */
function entryOf(box: Uint8Array, shown: CheckedBox | null, { slotMs, epochSlots }: ChainParams): Entry {
  const blank = { ...EntryType.defaultValue(), box }
  if (shown === null) return blank
  const rate = BigInt(Math.floor(shown.operationsPerSecond))
  const capacity = workOf({ int8: (rate * slotMs * epochSlots) / 1_000n }) / DRILLED_PART
  if (capacity === 0n) return blank
  const { certificate, boxSig } = shown
  return { ...blank, count: 1, rates: [rate, 0n, 0n, 0n, 0n], capacity, score: capacity, certificate, boxSig }
}
