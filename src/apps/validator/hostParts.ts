import { boxWords } from '../../core/bytes/boxWords.ts'
import {
  cpuLanes,
  type HostPart,
  type HostProblem,
  totalRate,
  type Walk,
  WRONG_MARK,
} from '../../core/inventory/hostReport.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import {
  HOST_BLOCK_BYTES,
  HOST_TABLE_BYTES,
  type HostTarget,
  MARK_BYTES,
  MAX_HOST_BLOCKS,
  MAX_LANES,
} from '../../core/params/hostParts.ts'
import { partRole } from '../../core/proof/partKinds.ts'
import type { Randomness } from '../../ports/randomness.ts'
import type { WalkChecker } from '../../ports/walkChecker.ts'
import type { Line } from './greetProver.ts'
import type { ProverSession } from './proverSession.ts'
import type { Step } from './verifyBox.ts'

interface HostDeps extends Line {
  readonly checker: WalkChecker
  /** Claims: they size the question. */
  readonly host: Inventory['host']
}

/** How long a box may take to start its lanes (others of its cohort may wait), to store, and to hand over its marks. */
const START_MS = 20_000
const STORE_MS = 60_000
const HALT_MS = 20_000

/** A walk that sizes the next, and one that counts. */
const TRIAL_MS = 100
const WALK_MS = 800
const TRIAL_STRIDE = 4

/**
 * Marks that take longer say nothing of when they were made: a box could wait until another that has the same processor is
 * done (attack 166). In this time they prove half a processor too many together, at the most.
 */
const LONGEST_WALK_US = 1_200_000

/**
 * Marks a lane makes in a walk that counts, and the fewest that the fastest lane makes where one proves something: a box
 * that boasted in its trials makes few long stretches, which are dear to walk again (attack 462).
 */
const MARKS = 16
const FEWEST_MARKS = 8

/**
 * Stretches that are walked again. Where a CPU is proven, a share e of lanes that were made up escapes with (1 - e)^64 at
 * most, and lanes with one cut each in 1.8 % of cases, however many marks they made.
 */
const checksOf = (source: HostPart['source'], { marks }: Walk): number =>
  source === 'proven' ? 4 * Math.max(MARKS, ...marks) : 8

/** Disks want several reads at once. */
const DISK_LANES = 16

const GIB = 2 ** 30

interface Stored {
  readonly seed: Uint8Array
  readonly blocks: number
  readonly pastCache: boolean
}

interface Walked extends Walk {
  readonly nonce: Uint8Array
  readonly lanes: readonly Uint8Array[]
  readonly fromUs: number
  readonly toUs: number
}

interface CpuWalk {
  readonly stored: Stored
  readonly walked: Walked
  /** Begun while every device was at work. */
  readonly watched: boolean
}

interface CountedWalk {
  readonly source: HostPart['source']
  readonly stored: Stored
  readonly walked: Walked
  readonly lanes: readonly number[]
}

/** A part as the box showed it, which counts if its walk holds. */
interface Collected {
  readonly nothing: HostPart
  readonly shown: Partial<HostPart>
  /** Null where there is none to check. */
  readonly walk: CountedWalk | null
}

/** What the box could not or would not do; it ends the part, and the report says why. */
class Unable extends Error {
  readonly problem: HostProblem
  constructor(code: string, text: string, nextStep: string) {
    super(code)
    this.problem = { code, text, nextStep }
  }
}

/**
 * §12: the box around the cards. The CPU walks while the sustained part keeps every device busy; memory and disk follow
 * when the cards are done. Nothing here touches the verdict on the cards.
 */
export class HostParts {
  readonly #deps: HostDeps
  #sized: Promise<{ readonly stored: Stored; readonly stride: number }> | null = null
  #cpu: Promise<CpuWalk> | null = null
  #allBusyUntilUs = Number.POSITIVE_INFINITY
  #lanes = 1
  #silent = false

  constructor(deps: HostDeps) {
    this.#deps = deps
  }

  /** Before the run: the threads of the lanes are started and their walk is sized while no card is at work. */
  async prepare(): Promise<void> {
    this.#sized = this.#sizeCpu()
    await this.#sized.catch(() => {})
  }

  /**
   * Watches the run: T0 of the sustained part is the sign, which no box can put off. All of a cohort walk at once, so that
   * boxes with one processor show it once (attack 101). The first device that is done ends the window.
   */
  watch(step: Step): void {
    if (step.step !== 'compute' || partRole(step.parts, step.progress.part) !== 'sustained') return
    const { phase, done, of } = step.progress
    if (phase !== 'rounds' || done >= of) {
      this.#allBusyUntilUs = Math.min(this.#allBusyUntilUs, this.#deps.clock.monotonicUs())
      return
    }
    this.#cpu ??= this.#walkCpu(true)
    // Whoever waits for it hears of it.
    this.#cpu.catch(() => {})
  }

  /** After the run: the box has nothing left to send then. */
  async collect(): Promise<readonly Collected[]> {
    const cpu = await this.#measureCpu()
    const memory = await this.#measure(
      'memory',
      this.#bytes(4 * GIB, 256, ['memoryLimitBytes', 'memoryBytes'], 8),
      this.#lanes,
    )
    const disk = await this.#measure('disk', this.#bytes(GIB, 128, ['diskFreeBytes'], 100), DISK_LANES)
    return [cpu, memory, disk]
  }

  /** Walks what was collected again: time of ours, for which boxes may have to wait for one another (attack 349). */
  async check(collected: readonly Collected[]): Promise<readonly HostPart[]> {
    const parts: HostPart[] = []
    for (const { nothing, shown, walk } of collected) {
      const problem = walk && (await this.#wrongMark(walk))
      parts.push({ ...nothing, ...(problem ? { problem } : shown) })
    }
    return parts
  }

  /** At most `most`, so many MiB a core, and a share of what the box says it has. */
  #bytes(most: number, perCoreMib: number, claims: readonly string[], part: number): number {
    const claim = claims.map((name) => this.#deps.host[name]).find((value) => typeof value === 'number' && value > 0)
    return Math.min(most, this.#cores * perCoreMib * 2 ** 20, typeof claim === 'number' ? claim / part : most)
  }

  get #cores(): number {
    const { cores } = this.#deps.host
    return typeof cores === 'number' && cores >= 1 ? Math.min(MAX_LANES, Math.floor(cores)) : 1
  }

  async #sizeCpu() {
    const stored = await this.#store('cpu', 1, this.#cores, START_MS)
    const all = await this.#walk('cpu', this.#cores, TRIAL_STRIDE, TRIAL_MS)
    const half = await this.#walk('cpu', Math.ceil(this.#cores / 2), TRIAL_STRIDE, TRIAL_MS)
    // Two threads of a core share its units and its cache: half of them may count for more.
    const trial = countedOf(half) > countedOf(all) ? half : all
    this.#lanes = trial.marks.length
    return { stored, stride: strideAfter(trial) }
  }

  async #walkCpu(watched: boolean): Promise<CpuWalk> {
    const { stored, stride } = await this.#sized!
    return { stored, watched, walked: await this.#walk('cpu', this.#lanes, stride, WALK_MS) }
  }

  #measureCpu(): Promise<Collected> {
    return this.#told('cpu', this.#cores, HOST_TABLE_BYTES, async () => {
      const { stored, walked, watched } = await (this.#cpu ?? this.#walkCpu(false))
      const inTime = walked.toUs <= this.#allBusyUntilUs && walked.elapsedUs <= LONGEST_WALK_US
      const inWindow = watched && inTime
      const fast = inWindow && Math.max(...walked.marks) >= FEWEST_MARKS ? cpuLanes(walked) : []
      const [source, lanes] = fast.length > 0 ? (['proven', fast] as const) : (['measured', allOf(walked)] as const)
      const bytesPerSec = Math.floor(totalRate(walked, lanes))
      const shown = { source, bytesPerSec, lanes: lanes.length, of: this.#lanes, inWindow }
      return { shown, walk: { source, stored, walked, lanes } }
    })
  }

  #measure(part: 'memory' | 'disk', bytes: number, lanes: number): Promise<Collected> {
    const blocks = Math.min(MAX_HOST_BLOCKS, Math.max(1, Math.floor(bytes / HOST_BLOCK_BYTES)))
    return this.#told(part, lanes, blocks * HOST_BLOCK_BYTES, async () => {
      const stored = await this.#store(part, blocks, lanes)
      const trial = await this.#walk(part, lanes, TRIAL_STRIDE, TRIAL_MS)
      const walked = await this.#walk(part, lanes, strideAfter(trial), WALK_MS)
      const counted = allOf(walked)
      const bytesPerSec = Math.floor(totalRate(walked, counted))
      const source = 'measured' as const
      const shown = { source, bytesPerSec, lanes, pastCache: stored.pastCache }
      return { shown, walk: { source, stored, walked, lanes: counted } }
    })
  }

  /** A part with what came of it, or with why nothing did. */
  async #told(
    part: HostPart['part'],
    of: number,
    storedBytes: number,
    work: () => Promise<Omit<Collected, 'nothing'>>,
  ): Promise<Collected> {
    const none = { source: null, bytesPerSec: 0, lanes: 0, pastCache: false, inWindow: false, problem: null }
    const nothing = { part, of, storedBytes, ...none }
    try {
      return { nothing, ...(await work()) }
    } catch (error) {
      if (!(error instanceof Unable)) throw error
      return { nothing, shown: { problem: error.problem }, walk: null }
    }
  }

  async #store(target: HostTarget, blocks: number, lanes: number, withinMs = STORE_MS): Promise<Stored> {
    const seed = this.#deps.randomness.bytes(32)
    const { answer } = await this.#ask({ type: 'store', target, seed, blocks, lanes }, withinMs)
    if (answer.type !== 'stored') throw unexpected(answer.type)
    return { seed, blocks, pastCache: answer.pastCache }
  }

  /** The clock runs from the nonce to the marks; nothing is subtracted for the way there and back. */
  async #walk(target: HostTarget, lanes: number, stride: number, ms: number): Promise<Walked> {
    const { session, clock, randomness, signal } = this.#deps
    const nonce = randomness.bytes(32)
    const fromUs = await session.send({ type: 'walk', nonce, lanes, stride })
    await clock.sleep(ms, signal)
    const { answer, atUs } = await this.#ask({ type: 'halt' }, HALT_MS)
    if (answer.type !== 'walked' || answer.lanes.length !== lanes) throw unexpected(answer.type)
    const marks = answer.lanes.map((lane) => lane.length / MARK_BYTES)
    // Marks that came before they were asked for, while this thread stood still, took no less.
    const elapsedUs = Math.max(1000 * ms, atUs - fromUs)
    return { target, nonce, lanes: answer.lanes, marks, stride, fromUs, toUs: atUs, elapsedUs }
  }

  async #ask(order: Parameters<ProverSession['askHost']>[0], withinMs: number) {
    const { session, signal } = this.#deps
    // Who was silent once is not waited for again.
    const answered = this.#silent ? null : await session.askHost(order, withinMs, signal)
    if (answered === null) {
      this.#silent = true
      throw new Unable('HOST_SILENT', 'the box did not answer in time', 'Free the box from other work, then run again.')
    }
    const { answer } = answered
    if (answer.type === 'unable')
      throw new Unable(
        answer.code,
        `the box says ${boxWords(answer.text)}`,
        'Fix what it reports on the box, then run again.',
      )
    return answered
  }

  /** Walks random stretches of the lanes again, each from mark to mark; the first that leads elsewhere. */
  async #wrongMark({ source, stored, walked, lanes }: CountedWalk): Promise<HostProblem | null> {
    const { seed, blocks } = stored
    const { target, nonce, stride: steps } = walked
    const { checker, randomness, signal } = this.#deps
    const places = lanes.flatMap((lane) => Array.from({ length: walked.marks[lane]! }, (_, mark) => ({ lane, mark })))
    const asked = drawn(places, checksOf(source, walked), randomness)
    const stretches = asked.map(({ lane, mark }) => {
      const marks = walked.lanes[lane]!
      const markAt = (index: number) => marks.subarray(index * MARK_BYTES, (index + 1) * MARK_BYTES)
      const from = mark === 0 ? null : markAt(mark - 1)
      return { target, seed, blocks, nonce, lane, from, to: markAt(mark), steps }
    })
    const wrong = await checker.check(stretches, signal)
    if (wrong === null) return null
    const { lane, mark } = asked[wrong]!
    return {
      code: WRONG_MARK,
      text: `mark ${mark} of lane ${lane} is not where the walk leads`,
      nextStep: 'Check the memory or the disk of the box, or do not trust it.',
    }
  }
}

const allOf = ({ marks }: Walk): number[] => marks.map((_, lane) => lane)
const countedOf = (walk: Walk): number => totalRate(walk, cpuLanes(walk))

/** So that the fastest lane makes MARKS of them in the walk that counts. */
const strideAfter = (trial: Walk): number => {
  const stepsPerMs = (1000 * Math.max(...trial.marks) * trial.stride) / trial.elapsedUs
  return Math.max(1, Math.floor((stepsPerMs * WALK_MS) / MARKS))
}

/** `count` of them, none twice. */
function drawn<T>(all: readonly T[], count: number, randomness: Randomness): T[] {
  const left = [...all]
  return Array.from({ length: Math.min(count, all.length) }, () => {
    const word = new DataView(randomness.bytes(4).buffer).getUint32(0, true)
    return left.splice(word % left.length, 1)[0]!
  })
}

const unexpected = (got: string) =>
  new Unable('HOST_WRONG_ANSWER', `"${got}" is not what was asked for`, 'Use the same release on both sides.')
