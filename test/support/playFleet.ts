import { expect } from 'vitest'
import { scoreNow } from '../../src/apps/shared/scoreNow.ts'
import type { FleetRules, VerifyJob } from '../../src/apps/validator/fleet/fleet.ts'
import { runFleet } from '../../src/apps/validator/fleet/runFleet.ts'
import { type VerifyOptions, verifyBox } from '../../src/apps/validator/verifyBox.ts'
import type { Precision } from '../../src/core/params/precision.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import type { JobKind } from '../../src/core/schedule/boxState.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import type { Finish } from '../../src/ports/store.ts'
import type { WalkChecker } from '../../src/ports/walkChecker.ts'
import { smallCatalogue } from '../sim/shippedCatalogue.ts'
import { testDeps, testRules } from './fleetKit.ts'
import { inlineChecker } from './inlineChecker.ts'
import { openInProcessBox, ownMachine, type ProverProgram } from './inProcessBox.ts'
import { MemoryStore } from './memoryStore.ts'
import { openReferenceDevice, type ReferenceDevice } from './openReferenceDevice.ts'
import { seededRandomness } from './seededRandomness.ts'
import { entry } from './storeFixtures.ts'
import { testEngine } from './testEngine.ts'
import { testSigner } from './testSigner.ts'
import { TINY } from './verifyInProcess.ts'
import { VirtualClock } from './virtualClock.ts'

export const engine = await testEngine()
const catalogue = await smallCatalogue()

/** What a round takes, alone on a card. */
export const ROUND_MS = 1000
export const HOUR_MS = 3_600_000

/** One card: whoever uses it makes the others wait. */
export class Card {
  readonly #clock: VirtualClock
  readonly #roundMs: number
  #turn: Promise<void> = Promise.resolve()
  users = 0
  constructor(clock: VirtualClock, roundMs = ROUND_MS) {
    this.#clock = clock
    this.#roundMs = roundMs
  }

  async round(): Promise<void> {
    const before = this.#turn
    let done = () => {}
    this.#turn = new Promise((resolve) => {
      done = resolve
    })
    this.users++
    await before
    await this.#clock.sleep(this.#roundMs)
    this.users--
    done()
  }

  /** Until nobody has used it for longer than the gap between two rounds. */
  async idle(signal: AbortSignal): Promise<void> {
    for (let quiet = 0; quiet < 3 && !signal.aborted; quiet = this.users === 0 ? quiet + 1 : 0)
      await this.#clock.sleep(this.#roundMs)
  }
}

interface Scene {
  readonly clock: VirtualClock
  readonly store: MemoryStore
  readonly results: (boxId: string) => MemoryStore['results']
}

interface Play {
  readonly hours: number
  readonly fixedRounds?: number
  readonly precisions?: readonly Precision[]
  readonly asked?: Partial<VerifyOptions>
  /** What the answers of one box take us to check; they are checked one after the other. */
  readonly checkMs?: number
  /** What one walk of a host part takes us to check, one after the other; host parts are asked for where it is given. */
  readonly walkCheckMs?: number
  /** Who is rented in an hour, from before its round is opened. */
  readonly rented?: (hour: number) => readonly string[]
  /** What an owner does with boxes at other times; it ends before the last hour does. */
  readonly meanwhile?: (store: MemoryStore, clock: VirtualClock) => Promise<void>
}

/** Bytes of a round in memory, as `mainnetAsk` has it. */
export const KEPT_BYTES = 8320

/** What mainnet asks for, of small matrices and of memory for so many rounds. */
export const mainnetAsk = (rounds: number): Partial<VerifyOptions> => ({
  preset: { ...PRESETS.mainnet, name: 'devnet', size: 64, openings: 4, fillBytes: rounds * KEPT_BYTES },
  openings: 4,
  partSeconds: 3,
  sustainedSeconds: 20,
  memory: true,
})

/** One thread that all boxes share. */
function turnsOf(clock: VirtualClock) {
  let turn: Promise<void> = Promise.resolve()
  return (ms: number) => {
    turn = turn.then(() => clock.sleep(ms))
    return turn
  }
}

/** Finds every walk right, and takes its time. */
function slowWalkChecker(clock: VirtualClock, ms: number): WalkChecker {
  const takeTurn = turnsOf(clock)
  return {
    async check() {
      await takeTurn(ms)
      return null
    },
  }
}

/** A fleet in virtual time for so many hours, a round each; every box is a program, or null: it never lets us in. */
export async function play(
  ids: readonly string[],
  programOf: (boxId: string, clock: VirtualClock, kind: JobKind) => ProverProgram | null | Promise<ProverProgram>,
  {
    hours,
    fixedRounds = 8,
    precisions = ['int8', 'fp16'],
    asked,
    checkMs = 0,
    walkCheckMs,
    rented,
    meanwhile = async () => {},
    ...more
  }: Partial<FleetRules> & Play,
): Promise<Scene> {
  const clock = new VirtualClock()
  const store = new MemoryStore(
    ids.map((id) => entry(id)),
    clock,
  )
  const preset = { ...PRESETS.tiny, fixedRounds }
  const { check, close } = inlineChecker(engine)
  const takeTurn = turnsOf(clock)
  const inTurn: typeof check = async (...run) => {
    await takeTurn(checkMs)
    return await check(...run)
  }
  const checker = { check: checkMs > 0 ? inTurn : check, close }
  const walkChecker = walkCheckMs === undefined ? undefined : slowWalkChecker(clock, walkCheckMs)
  const full: VerifyOptions = { ...TINY, precisions, preset, sustainedSeconds: 1, ...asked }
  const verify: VerifyJob = (job, hooks, signal) =>
    verifyBox(
      job.kind === 'light' ? TINY : full,
      {
        clock,
        randomness: systemRandomness,
        signer: testSigner(1),
        checker,
        catalogue,
        ...(walkChecker && { walkChecker }),
        connect: async (inner) => {
          const program = await programOf(job.boxId, clock, job.kind)
          return program === null ? await forever(inner) : openInProcessBox(program)
        },
        ...hooks,
      },
      signal,
    )
  const { score: usual } = await testRules()
  // Full marks for one operation a second: a stand-in computes too slowly to earn a point of the usual score.
  const rates = { int8: 1, fp8: 1, bf16: 1, fp16: 1, fp32: 1 }
  const rules = await testRules({
    score: { ...usual, reference: { ...usual.reference, rates } },
    cohortSize: 8,
    concurrency: 8,
    roundEveryMs: HOUR_MS,
    pollMs: 20_000,
    startLimitMs: 300_000,
    stallMs: 120_000,
    jobLimitMs: 900_000,
    retries: { limit: 2, intervalMs: 300_000 },
    ...more,
  })
  const rent = async (hour: number) => {
    if (rented) for (const id of ids) await store.setAllocated(id, rented(hour).includes(id))
  }
  await rent(0)
  const stop = new AbortController()
  const running = runFleet(
    testDeps(store.asStore, verify, { clock, randomness: seededRandomness(1) }),
    rules,
    stop.signal,
  )
  const acting = meanwhile(store, clock)
  await clock.sleep(HOUR_MS - 1000)
  for (let hour = 1; hour < hours; hour++) {
    await rent(hour)
    await clock.sleep(HOUR_MS)
  }
  await acting
  stop.abort()
  await running
  const results = (boxId: string) => store.results.filter(({ job }) => job.box.id === boxId)
  return { clock, store, results }
}

/** Until nobody wants it any more. */
export const forever = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

export const CARD = { class: 'gpu', backEnd: 'cuda', name: 'Card' } as const

/** A device that computes right, and as fast as the card lets it. */
export const cardOn = (card: Card, facts: Partial<ReferenceDevice['facts']> = {}) =>
  openReferenceDevice({
    engine,
    facts: { ...CARD, ...facts },
    costs: { round: () => card.round() },
  })

/** How each result ended: its code, or its outcome. */
export const outcomes = (results: readonly Finish[]) => results.map(({ result: { outcome, code } }) => code ?? outcome)

/** Two boxes that run at once on one card: the first round of one and the last of the other are theirs alone. */
export const AT_ONCE = 1.1

/** Operations a second of a card, one tiny round each. */
export const FULL_SPEED = (64 * 64 * 64 * 2) / (ROUND_MS / 1000)

/** The best rate of a result in any part, as a share of what the card shows alone. */
const shareOf = ({ result, box: { score } }: Finish): number => {
  const rates = result.figures.filter(({ name }) => /^(rate|sustained)\./.test(name)).map(({ value }) => value)
  return score === 0 ? 0 : Math.max(0, ...rates) / FULL_SPEED
}

/** What a prover says whose card somebody else uses. */
export const BUSY = { type: 'fault', code: 'GPU_BUSY', text: 'the card is taken' } as const

/** The program of a box that shares the card. */
type Sharing = (boxId: string, card: Card, clock: VirtualClock, kind: JobKind) => ProverProgram

const MINUTE_US = 60_000_000
const LARGE = 1e9

/** What a box holds since some time, and when and in which round it was earned. */
interface Latest {
  readonly share: number
  readonly score: number
  readonly fromUs: number
  readonly scoredUs: number
  readonly round: number
}

/** Of all that boxes on one card could show of it after the first rounds, how much they hold, by what is left of it. */
export async function heldBy(
  sharing: readonly string[],
  programOf: Sharing,
  {
    hours = 4,
    others = ['c', 'd'],
    rented,
    meanwhile,
    ...more
  }: Partial<FleetRules> & Partial<Omit<Play, 'asked'>> & { readonly others?: readonly string[] } = {},
): Promise<number> {
  const shared = new Map<VirtualClock, Card>()
  const { store } = await play(
    [...sharing, ...others],
    (boxId, clock, kind) => {
      if (!sharing.includes(boxId)) return ownMachine({ devices: [cardOn(new Card(clock))] })
      const card = shared.get(clock) ?? new Card(clock)
      shared.set(clock, card)
      return programOf(boxId, card, clock, kind)
    },
    { hours, ...(rented && { rented }), ...(meanwhile && { meanwhile }), ...more },
  )
  const { decay } = (await testRules()).score
  const counted = store.results.flatMap(({ countsUs, ...one }) => (countsUs === null ? [] : [{ ...one, countsUs }]))
  counted.sort((one, other) => one.countsUs - other.countsUs)
  const paid = counted.filter(
    ({ result, job, box }) => result.outcome === 'accepted' && job.window !== null && box.scored,
  )
  /** What is left of a score at a time, of what it was when it was earned. */
  const left = ({ scoredUs, round }: Latest, atUs: number): number => {
    const current = !paid.some((later) => later.round > round && later.countsUs <= atUs)
    const scoredAt = new Date(scoredUs / 1000).toISOString()
    return scoreNow({ score: LARGE, scoredAt, current }, new Date(atUs / 1000), decay) / LARGE
  }
  const latest = new Map<string, Latest>()
  let total = 0
  const [from, until] = [2, hours].map((hour) => hour * HOUR_MS * 1000)
  const account = (boxId: string, untilUs: number) => {
    const last = latest.get(boxId)
    if (!last) return
    const gone = store.removals.find(({ id, atUs }) => id === boxId && atUs >= last.fromUs)
    const end = Math.min(untilUs, until!, gone?.atUs ?? untilUs)
    for (let us = Math.max(last.fromUs, from!); us < end; us += MINUTE_US)
      total += last.share * left(last, us) * Math.min(MINUTE_US, end - us)
  }
  for (const finish of counted) {
    const { id } = finish.job.box
    const { round, countsUs } = finish
    const { scored, atMost, score } = finish.box
    const before = latest.get(id)
    const lowered = before && atMost !== null && atMost < before.score
    if (!sharing.includes(id) || !(scored || lowered)) continue
    account(id, countsUs)
    const share = lowered ? before.share * (atMost / before.score) : shareOf(finish)
    latest.set(id, {
      ...(lowered ? before : { scoredUs: countsUs, round }),
      share,
      score: lowered ? atMost : score,
      fromUs: countsUs,
    })
  }
  for (const id of sharing) account(id, until!)
  for (const id of others) expect(store.results.filter(({ job, box }) => job.box.id === id && box.failed)).toEqual([])
  return total / (until! - from!)
}
