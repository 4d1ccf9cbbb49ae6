import type { PlannedJob } from '../../src/core/schedule/planFleetRound.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { BoxEntry, BoxRecord, Finish, FleetRound, Store, TakenJob } from '../../src/ports/store.ts'
import { entry } from './storeFixtures.ts'

interface Job extends PlannedJob {
  readonly id: number
  state: 'waiting' | 'held' | 'done'
  /** Done because its box was rented. */
  spared?: boolean
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
  | 'settle'
  | 'lastRound'
  | 'takeJobs'
  | 'keepJobs'
  | 'releaseJobs'
  | 'finishJob'
  | 'queue'
  | 'boxesWithCards'
  | 'takeChips'
  | 'takeKey'
  | 'retain'
>

/** The queue of a fleet in virtual time, by the same rules as the real stores: those have clocks of their own. */
export class MemoryStore implements Queue {
  readonly #clock: Clock
  readonly #jobs: Job[] = []
  readonly #chips = new Map<string, string>()
  readonly #keys = new Map<string, string>()
  readonly #rest = new Map<string, number>()
  readonly boxes = new Map<string, BoxRecord>()
  /** With the moment from which on it counts; null while it waits for the end of its window. */
  readonly results: (Omit<Finish, 'box'> & {
    box: Finish['box']
    readonly round: number
    readonly atUs: number
    countsUs: number | null
  })[] = []
  readonly removals: { readonly id: string; readonly atUs: number }[] = []
  readonly #stood = new Map<string, number>()
  readonly #since = new Map<string, number>()
  readonly #windows = new Map<number, number>()
  readonly #settled = new Set<number>()
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

  /** Whether nobody has earned in a later window. */
  isCurrent = (id: string): boolean =>
    (this.#since.get(id) ?? Number.POSITIVE_INFINITY) >= Math.max(0, ...this.#settled)

  async fleet() {
    return [...this.boxes.values()].map(({ id, allocated, score, stalls }) => {
      return { id, allocated, score, stalls, rests: this.rests(id), stood: this.#stood.get(id) ?? null }
    })
  }

  /** A box joins the fleet. */
  put(id: string): void {
    this.boxes.set(id, { ...NEW, ...entry(id) })
  }

  /** A box leaves the fleet. */
  remove(id: string): void {
    this.boxes.delete(id)
    for (const job of this.#jobs) if (job.boxId === id && job.state === 'waiting') job.state = 'done'
    this.removals.push({ id, atUs: this.#clock.monotonicUs() })
  }

  async setAllocated(id: string, allocated: boolean) {
    this.boxes.set(id, { ...this.boxes.get(id)!, allocated })
    for (const job of this.#jobs.filter(({ boxId, kind }) => boxId === id && kind === 'full')) {
      const comesBack = job.spared && job.reason !== 'round' && job.round === this.#round
      if (allocated && job.state === 'waiting') Object.assign(job, { state: 'done', spared: true })
      else if (!allocated && comesBack) Object.assign(job, { state: 'waiting', spared: false })
    }
    return true
  }

  async roundDue(everyMs: number) {
    return this.#clock.monotonicUs() - this.#openedUs >= everyMs * 1000
  }

  async lastRound() {
    return this.#round === 0 ? null : ({ number: this.#round } as FleetRound)
  }

  async openRound({ number, jobs }: Parameters<Store['openRound']>[0]) {
    this.#round = number
    this.#openedUs = this.#clock.monotonicUs()
    for (const job of this.#jobs) if (job.state === 'waiting') job.state = 'done'
    for (const job of jobs) this.#add(job)
    for (const { boxId, kind } of jobs) if (kind === 'full') this.#stood.set(boxId, number)
    return true
  }

  #add(job: PlannedJob): void {
    const dueUs = this.#clock.monotonicUs() + job.delayMs * 1000
    this.#jobs.push({ ...job, id: this.#jobs.length, state: 'waiting', attempt: 0, tries: 0, dueUs })
  }

  async takeJobs({ limit, places = limit, stalled, single }: Parameters<Store['takeJobs']>[0]): Promise<TakenJob[]> {
    const nowUs = this.#clock.monotonicUs()
    const mayRun = ({ boxId, state }: Job) =>
      state === 'waiting' &&
      !this.rests(boxId) &&
      (stalled === undefined || this.boxes.get(boxId)!.stalls > 0 === stalled)
    const taken = new Set(this.#jobs.filter(({ state }) => state === 'held').map(({ boxId }) => boxId))
    const isSingle = ({ kind, cohort }: Job) => kind === 'light' || cohort < 0
    const inLane = (job: Job) => single === undefined || isSingle(job) === single
    const ready = this.#jobs.filter((job) => mayRun(job) && job.dueUs <= nowUs).sort((x, y) => x.dueUs - y.dueUs)
    const mates = ({ round, cohort }: Job) =>
      this.#jobs.filter((job) => mayRun(job) && job.kind === 'full' && job.round === round && job.cohort === cohort)
    const busy = new Set(taken)
    const waits = (job: Job) =>
      job.kind === 'full' && job.cohort >= 0 && mates(job).some(({ boxId }) => busy.has(boxId))
    const awaited = new Set(ready.filter((job) => !isSingle(job)).map(({ boxId }) => boxId))
    const mayBegin = (job: Job) => (isSingle(job) ? !awaited.has(job.boxId) : !waits(job))
    const first = ready.filter((job) => mayBegin(job) && !taken.has(job.boxId) && taken.add(job.boxId))
    const due = first.filter(inLane).slice(0, limit)
    const whole = due.filter((job) => {
      const cohort = job.kind === 'full' && job.cohort >= 0 ? mates(job) : []
      return cohort.length > places || cohort.every((mate) => due.includes(mate) || mate.boxId === job.boxId)
    })
    const stands = ({ boxId, kind, reason, cohort, round }: Job) =>
      kind === 'full' &&
      reason === 'round' &&
      cohort === 0 &&
      !this.boxes.get(boxId)!.stalls &&
      !this.#settled.has(round)
    const opened = new Set(whole.filter(stands).map(({ round }) => round))
    for (const round of opened) this.#windows.set(round, (this.#windows.get(round) ?? 0) + 1)
    return whole.map((job) => {
      job.state = 'held'
      job.attempt++
      const box = { ...this.boxes.get(job.boxId)!, current: this.isCurrent(job.boxId) }
      return { ...job, box, window: stands(job) ? this.#windows.get(job.round)! : null }
    })
  }

  async settle(round: number, window: number | null) {
    if (window === null || this.#windows.get(round) !== window || this.#settled.has(round)) return 0
    const waiting = this.results.filter((one) => one.countsUs === null && one.round === round)
    const earned = waiting.filter(({ job }) => job.window === window && this.boxes.has(job.box.id))
    for (const one of earned) {
      one.countsUs = this.#clock.monotonicUs()
      const { score, terms } = one.box
      this.boxes.set(one.job.box.id, { ...this.boxes.get(one.job.box.id)!, score, terms })
      this.#since.set(one.job.box.id, round)
    }
    if (earned.some(({ box }) => box.score > 0)) this.#settled.add(round)
    return earned.length
  }

  async keepJobs({ jobs }: Parameters<Store['keepJobs']>[0]) {
    return jobs.map(({ id }) => id)
  }

  async releaseJobs() {
    return 0
  }

  async finishJob(finish: Finish) {
    const { job, retryInMs, followUps } = finish
    const { terms, score, restMs, scored, atMost, failed, ...state } = finish.box
    const mine = this.#jobs[job.id]!
    const box = this.boxes.get(mine.boxId)
    mine.tries++
    const nowUs = this.#clock.monotonicUs()
    mine.state = retryInMs === null ? 'done' : 'waiting'
    mine.dueUs = nowUs + (retryInMs ?? 0) * 1000
    if (!box) return null
    const isPending = job.window !== null && scored && finish.result.outcome === 'accepted'
    const failuresTotal = box.failuresTotal + Number(failed)
    const inventory = finish.result.inventory ?? box.inventory
    this.boxes.set(box.id, {
      ...box,
      ...state,
      ...(scored && !isPending ? { score, terms } : {}),
      ...(atMost !== null && atMost < box.score ? { score: atMost, terms } : {}),
      failuresTotal,
      inventory,
    })
    if (restMs !== null) this.#rest.set(box.id, nowUs + restMs * 1000)
    for (const one of this.results)
      if (atMost !== null && one.countsUs === null && one.job.box.id === box.id && one.box.score > atMost)
        one.box = { ...one.box, score: atMost, terms }
    for (const job of followUps) this.#add(job)
    if (box.allocated) await this.setAllocated(box.id, true)
    this.results.push({ ...finish, round: mine.round, atUs: nowUs, countsUs: isPending ? null : nowUs })
    return { id: this.results.length, isOfBox: true }
  }

  async queue() {
    const count = (state: Job['state']) => this.#jobs.filter((job) => job.state === state).length
    return { waiting: count('waiting'), held: count('held'), done: count('done'), lagSeconds: 0 }
  }

  async boxesWithCards() {
    return []
  }

  async takeChips({ round, boxId, chips, isNoted }: Parameters<Store['takeChips']>[0]) {
    const keys = chips.map((chip) => `${round} ${chip}`)
    for (const key of keys) if (isNoted && !this.#chips.has(key)) this.#chips.set(key, boxId)
    const holders = keys.flatMap((key) => this.#chips.get(key) ?? [])
    return [...new Set(holders)].filter((other) => other !== boxId).sort()
  }

  async takeKey({ boxId, key, isSigned }: Parameters<Store['takeKey']>[0]) {
    const other = [...this.#keys].find(([id, held]) => held === key && id !== boxId && this.boxes.has(id))?.[0] ?? null
    if (other === null && isSigned) this.#keys.set(boxId, key)
    return other
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
  since: null,
  failuresInRow: 0,
  failuresTotal: 0,
  busyInRow: 0,
  verifiedTotal: 0,
  moves: 0,
  missed: 0,
  current: true,
  stalls: 0,
  lastResult: null,
  last: null,
  models: [],
  inventory: null,
} as const
