import { LARGEST_COHORT } from '../../src/core/schedule/largestCohort.ts'
import { type MissedWindow, OWED_BY_AWAY, sampleOf } from '../../src/core/schedule/missedWindows.ts'
import type { PlannedJob } from '../../src/core/schedule/planFleetRound.ts'
import { randomWords, shuffled } from '../../src/core/schedule/randomWords.ts'
import { noteStrangers, owedByFall } from '../../src/core/schedule/shownBeside.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { BoxEntry, BoxRecord, Finish, FleetRound, Store, TakenJob } from '../../src/ports/store.ts'
import { entry } from './storeFixtures.ts'

interface Job extends PlannedJob {
  readonly id: number
  state: 'waiting' | 'held' | 'done'
  cohort: number
  attempt: number
  tries: number
  dueUs: number
}

type Queue = Pick<
  Store,
  | 'fleet'
  | 'setAllocated'
  | 'roundDue'
  | 'openRound'
  | 'lastRound'
  | 'takeJobs'
  | 'keepJobs'
  | 'releaseJobs'
  | 'finishJob'
  | 'queue'
  | 'boxesWithCards'
  | 'takeChips'
  | 'retain'
>

/** The queue of a fleet in virtual time, by the same rules as the real stores: those have clocks of their own. */
export class MemoryStore implements Queue {
  readonly #clock: Clock
  readonly #jobs: Job[] = []
  readonly #chips = new Map<string, string>()
  readonly #rest = new Map<string, number>()
  readonly #scoredUs = new Map<string, number>()
  readonly boxes = new Map<string, BoxRecord>()
  readonly results: (Finish & { readonly atUs: number })[] = []
  readonly removals: { readonly id: string; readonly atUs: number }[] = []
  readonly #awayIn = new Map<string, number>()
  readonly #stood = new Map<string, number>()
  readonly #gone = new Map<string, BoxRecord>()
  readonly #words = randomWords(new Uint8Array(32))
  #round = 0
  #openedUs = Number.NEGATIVE_INFINITY

  constructor(entries: readonly BoxEntry[], clock: Clock) {
    this.#clock = clock
    for (const entry of entries) this.boxes.set(entry.id, { ...NEW, ...entry })
  }

  /** For a fleet, which asks nothing else of a store. */
  get asStore(): Store {
    return this as unknown as Store
  }

  rests = (id: string): boolean => (this.#rest.get(id) ?? 0) > this.#clock.monotonicUs()

  async fleet() {
    return [...this.boxes.values()].map(({ id, allocated, score, owes, beside, stalls }) => {
      return { id, allocated, score, owes, beside, stalls, rests: this.rests(id), joins: !this.#stood.has(id) }
    })
  }

  /** A box joins the fleet. */
  put(id: string): void {
    const { address, provider, claim, allocated } = entry(id)
    const before = this.#gone.get(id)
    const debts = before && { owes: before.owes, beside: before.beside, missed: before.missed, stalls: before.stalls }
    const kept = before && { ...debts, moves: before.moves + 1 }
    this.boxes.set(id, { ...NEW, id, address, provider, claim, allocated, ...kept })
  }

  /** A box leaves the fleet: what it owes is kept for when it comes back. */
  remove(id: string): void {
    this.#gone.set(id, this.boxes.get(id)!)
    this.#stood.delete(id)
    this.boxes.delete(id)
    for (const job of this.#jobs) if (job.boxId === id && job.state === 'waiting') job.state = 'done'
    this.removals.push({ id, atUs: this.#clock.monotonicUs() })
  }

  async setAllocated(id: string, allocated: boolean) {
    this.boxes.set(id, { ...this.boxes.get(id)!, allocated })
    const spared = this.#jobs.filter(({ boxId, kind, state }) => boxId === id && kind === 'full' && state === 'waiting')
    if (!allocated) return true
    for (const job of spared) {
      job.state = 'done'
      const { round, cohort } = job
      const mates = this.#jobs.filter((o) => o.kind === 'full' && o.round === round && o.cohort === cohort && o !== job)
      if (cohort >= 0 && mates.length > 0)
        this.#missAll(
          id,
          mates.map(({ boxId }) => boxId),
        )
      if (cohort >= 0) this.#awayIn.set(id, round)
    }
    return true
  }

  #missAll(boxId: string, cohort: readonly string[]): void {
    const owesIt = ({ owes, beside }: BoxRecord) => [...owes, ...owedByFall(beside)].includes(boxId)
    const [debtor] = shuffled(cohort, this.#words).filter((id) => owesIt(this.boxes.get(id)!))
    const strangers = cohort.filter((id) => this.#stood.get(id) === this.#round)
    this.#miss({ boxId, mates: sampleOf(cohort, debtor, this.#words), cohortSize: LARGEST_COHORT, strangers })
  }

  #miss({ boxId, mates, cohortSize, strangers }: Omit<MissedWindow, 'away'>): void {
    const box = this.boxes.get(boxId)!
    const first = box.missed * Math.max(OWED_BY_AWAY, cohortSize)
    const latestLast = [...box.owes.filter((id) => !mates.includes(id)), ...mates]
    const owes = first > 0 ? [...new Set([...box.owes, ...mates])] : latestLast
    const latest = Math.max(OWED_BY_AWAY, mates.length, first > 0 ? 0 : box.owes.length)
    const beside = noteStrangers(box.beside, strangers)
    this.boxes.set(boxId, { ...box, beside, owes: owes.filter((_, n) => n < first || n >= owes.length - latest) })
  }

  async roundDue(everyMs: number) {
    return this.#clock.monotonicUs() - this.#openedUs >= everyMs * 1000
  }

  async lastRound() {
    return this.#round === 0 ? null : ({ number: this.#round } as FleetRound)
  }

  async openRound({ number, jobs, missed = [] }: Parameters<Store['openRound']>[0]) {
    this.#round = number
    this.#openedUs = this.#clock.monotonicUs()
    for (const job of this.#jobs) if (job.state === 'waiting') job.state = 'done'
    for (const job of jobs) this.#add(job)
    for (const { away, ...one } of missed) {
      this.#miss(one)
      if (away) this.#awayIn.set(one.boxId, number)
      else this.#stood.set(one.boxId, number)
    }
    return true
  }

  #add(job: PlannedJob): void {
    const dueUs = this.#clock.monotonicUs() + job.delayMs * 1000
    this.#jobs.push({ ...job, id: this.#jobs.length, state: 'waiting', attempt: 0, tries: 0, dueUs })
  }

  async takeJobs({
    limit,
    places = limit,
    stalled,
    single,
    owedForMs,
  }: Parameters<Store['takeJobs']>[0]): Promise<TakenJob[]> {
    const nowUs = this.#clock.monotonicUs()
    const mayRun = ({ boxId, state }: Job) =>
      state === 'waiting' &&
      !this.rests(boxId) &&
      (stalled === undefined || this.boxes.get(boxId)!.stalls > 0 === stalled)
    const taken = new Set(this.#jobs.filter(({ state }) => state === 'held').map(({ boxId }) => boxId))
    const inLane = ({ kind, cohort }: Job) => single === undefined || (kind === 'light' || cohort < 0) === single
    const ready = this.#jobs.filter((job) => mayRun(job) && job.dueUs <= nowUs).sort((x, y) => x.dueUs - y.dueUs)
    const mates = ({ round, cohort }: Job) =>
      this.#jobs.filter((job) => mayRun(job) && job.kind === 'full' && job.round === round && job.cohort === cohort)
    const busy = new Set(taken)
    const waits = (job: Job) =>
      job.kind === 'full' && job.cohort >= 0 && mates(job).some(({ boxId }) => busy.has(boxId))
    const first = ready.filter((job) => !waits(job) && !taken.has(job.boxId) && taken.add(job.boxId))
    const due = first.filter(inLane).slice(0, limit)
    const whole = due.filter((job) => {
      const cohort = job.kind === 'full' && job.cohort >= 0 ? mates(job) : []
      return cohort.length > places || cohort.every((mate) => due.includes(mate) || mate.boxId === job.boxId)
    })
    return whole.map((job) => {
      job.state = 'held'
      job.attempt++
      const box = this.boxes.get(job.boxId)!
      const inFleet = (ids: readonly string[]) => ids.flatMap((id) => this.boxes.get(id) ?? [])
      const isFresh = (id: string) => this.#scoredUs.get(id)! > nowUs - (owedForMs ?? Number.POSITIVE_INFINITY) * 1000
      const holds = ({ id, score }: BoxRecord) => score > 0 && isFresh(id)
      const owed = inFleet(box.owes).filter(holds)
      const standing = inFleet(Object.keys(box.beside)).filter(holds)
      const isAway = ({ id, allocated }: BoxRecord) => allocated || this.#awayIn.get(id) === job.round
      const away = owed.filter((other) => isAway(other) && other.owes.includes(box.id))
      const ids = (some: readonly BoxRecord[]) => some.map(({ id }) => id)
      return { ...job, box, owed: ids(owed), away: ids(away), standing: ids(standing) }
    })
  }

  async keepJobs({ jobs }: Parameters<Store['keepJobs']>[0]) {
    return jobs.map(({ id }) => id)
  }

  async releaseJobs() {
    return 0
  }

  async finishJob(finish: Finish) {
    const { job, retryInMs, retryAlone, followUps } = finish
    const { terms, score, restMs, scored, lowered, failed, ...state } = finish.box
    const mine = this.#jobs[job.id]!
    const box = this.boxes.get(mine.boxId)!
    mine.tries++
    const nowUs = this.#clock.monotonicUs()
    const later = this.#jobs
      .filter((other) => other.state === 'waiting' && other.kind === 'full' && other.boxId !== mine.boxId)
      .sort((x, y) => x.dueUs - y.dueUs)[0]
    mine.state = retryInMs !== null && (retryAlone || later) ? 'waiting' : 'done'
    mine.dueUs = retryAlone || !later ? nowUs + (retryInMs ?? 0) * 1000 : later.dueUs
    if (!retryAlone && later) mine.cohort = later.cohort
    const failuresTotal = box.failuresTotal + Number(failed)
    const inventory = finish.result.inventory ?? box.inventory
    const since = box.owes.filter((id) => ![...job.box.owes, ...state.owes].includes(id))
    const added = Object.entries(box.beside).filter(([id]) => !(id in job.box.beside))
    if (scored) this.#scoredUs.set(box.id, nowUs)
    this.boxes.set(box.id, {
      ...box,
      ...state,
      owes: [...state.owes, ...since],
      beside: { ...Object.fromEntries(added), ...state.beside },
      ...(scored || lowered ? { score, terms } : {}),
      failuresTotal,
      inventory,
    })
    if (restMs !== null) this.#rest.set(box.id, nowUs + restMs * 1000)
    for (const job of followUps) this.#add(job)
    this.results.push({ ...finish, atUs: nowUs })
    return this.results.length
  }

  async queue() {
    const count = (state: Job['state']) => this.#jobs.filter((job) => job.state === state).length
    return { waiting: count('waiting'), held: count('held'), done: count('done'), lagSeconds: 0 }
  }

  async boxesWithCards() {
    return []
  }

  async takeChips({ round, boxId, chips }: Parameters<Store['takeChips']>[0]) {
    const keys = chips.map((chip) => `${round} ${chip}`)
    for (const key of keys) if (!this.#chips.has(key)) this.#chips.set(key, boxId)
    return [...new Set(keys.map((key) => this.#chips.get(key)!))].filter((other) => other !== boxId).sort()
  }

  async retain() {
    return { results: 0, certificates: 0 }
  }
}

const NEW = {
  addedAt: '2026-01-01T00:00:00.000Z',
  status: 'new',
  claimVerdict: null,
  score: 0,
  terms: [],
  scoredAt: null,
  failuresInRow: 0,
  failuresTotal: 0,
  busyInRow: 0,
  verifiedTotal: 0,
  moves: 0,
  owes: [],
  missed: 0,
  stalls: 0,
  lastResult: null,
  last: null,
  models: [],
  inventory: null,
  beside: {},
} as const
