import { closeNonce, cpuReportData, openNonce } from '../../core/attest/binding.ts'
import { type CpuEvidence, writeBundle } from '../../core/attest/bundle.ts'
import { readReport } from '../../core/attest/spdm.ts'
import { equalBytes } from '../../core/bytes/bytes.ts'
import { type Challenge, challengeHash, encodeChallenge, resultMessage } from '../../core/proof/challenge.ts'
import { JointPasses } from '../../core/proof/jointPasses.ts'
import { devicesOf, type Phase } from '../../core/proof/part.ts'
import { kindOf, type Part } from '../../core/proof/partKinds.ts'
import { drawOpening, queryHash } from '../../core/proof/query.ts'
import { nonceHash, partSeed } from '../../core/proof/seeds.ts'
import type { Answer, Order } from '../../core/wire/messages.ts'
import type { Device, OnRoot } from '../../ports/device.ts'
import { fault } from '../shared/faults.ts'
import { blame, blaming } from './deviceFault.ts'

const cannot = async () => null

/** Has the processor of the box sign 64 bytes; null where it cannot. */
export type AskProcessor = (data: Uint8Array) => Promise<CpuEvidence | null>

type DeviceWork<T> = (device: Device, index: number, onRoot: OnRoot, signal: AbortSignal) => Promise<T>
type PartOrder = Extract<Order, { part: number }>

/** The validator asked for something out of turn: the prover says so and ends. */
export const wrongOrder = (what: string) => fault('WRONG_ORDER', { what })

/** One challenge from ready to result: which part is under way, and the roots sent in it. */
export class ChallengeRun {
  readonly #challenge: Challenge
  readonly #devices: readonly Device[]
  readonly #send: (answer: Answer) => Promise<void>
  readonly #x: Uint8Array
  readonly #queries: Uint8Array[] = []
  #s: Uint8Array | null = null
  #z: Uint8Array | null = null
  #roots: Uint8Array[][] = []
  /** What the devices signed before the first part. */
  #attested: readonly Uint8Array[] = []

  constructor(challenge: Challenge, devices: readonly Device[], send: (answer: Answer) => Promise<void>) {
    this.#challenge = challenge
    this.#devices = devices
    this.#send = send
    this.#x = challengeHash(encodeChallenge(challenge))
  }

  get #part(): Part {
    return this.#challenge.parts[this.#queries.length]!
  }

  async obey(order: PartOrder, signal: AbortSignal): Promise<void> {
    if (order.part !== this.#queries.length || order.part >= this.#challenge.parts.length)
      throw wrongOrder(`part ${order.part} out of turn`)
    if (order.type === 'start') await this.#start(order.s, signal)
    else if (order.type === 'passes') await this.#passes(order.z, signal)
    else await this.#open(order.nonce, signal)
  }

  /**
   * §9: before the first part or after the last. The nonce is made here, of this run: a validator must not have the
   * devices sign what another run needs.
   */
  async attest(askProcessor: AskProcessor): Promise<Uint8Array> {
    const isOver = this.#queries.length === this.#challenge.parts.length
    if (this.#s || (this.#queries.length > 0 && !isOver)) throw wrongOrder('attest in the middle of a run')
    const nonce = isOver ? closeNonce(this.#x, this.#queries, this.#attested) : openNonce(this.#x)
    const asked = this.#devices.slice(0, this.#challenge.deviceCount)
    const evidence = await Promise.all(asked.map((device) => blaming(device, device.attest?.(nonce) ?? cannot())))
    const signed = evidence.filter((one) => one !== null)
    if (signed.length < asked.length) return new Uint8Array(0)
    const reports = signed.map(({ report }) => readReport(report).signed)
    if (!isOver) this.#attested = reports
    const cpu = isOver ? await askProcessor(cpuReportData(nonce, this.#challenge.proverKey, reports)) : null
    return writeBundle({ devices: signed.map((one) => ({ ...one, nonce })), rims: [], ocsp: [], cpu })
  }

  /** §10. The message both sides sign, once every part is opened. */
  finish(): Uint8Array {
    if (this.#queries.length !== this.#challenge.parts.length) throw wrongOrder('finish before the last part')
    return resultMessage(this.#challenge, this.#queries)
  }

  async #start(s: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.#s) throw wrongOrder('start twice')
    this.#s = s
    this.#roots = devicesOf(this.#part).map(() => [])
    await this.#run(kindOf(this.#part).phases[0], s, signal)
  }

  async #passes(z: Uint8Array, signal: AbortSignal): Promise<void> {
    const [, second] = kindOf(this.#part).phases
    if (!this.#s || this.#z || !second) throw wrongOrder('passes out of turn')
    this.#z = z
    await this.#run(second, z, signal)
  }

  async #run(phase: Phase, word: Uint8Array, signal: AbortSignal): Promise<void> {
    const places = devicesOf(this.#part)
    const passes = new JointPasses(places.length)
    await this.#onEach(signal, (device, index, onRoot, signal) => {
      const seed = partSeed(this.#x, word, this.#queries.length, index)
      const task = phase.task(this.#part, index, word, seed)
      if ('series' in task) return device.runSeries(task.series, onRoot, signal)
      if ('fill' in task) return device.fill(task.fill, onRoot, signal)
      const peer = task.peer === index ? {} : { peer: this.#devices[task.peer]! }
      const joint = task.joint ? { joint: { passes, place: places.indexOf(index) } } : {}
      return device.runPasses({ ...task.passes, ...peer, ...joint }, onRoot, signal)
    })
  }

  async #open(nonce: Uint8Array, signal: AbortSignal): Promise<void> {
    const part = this.#part
    const kind = kindOf(part)
    if (!this.#s || kind.phases.length > 1 !== (this.#z !== null)) throw wrongOrder('reveal before the roots')
    if (!equalBytes(nonceHash(nonce), part.nonceHash)) throw wrongOrder('a nonce that is not the committed one')
    const query = queryHash({ x: this.#x, s: this.#s, nonce, z: this.#z, roots: this.#roots })
    const p = this.#queries.length
    const { parts } = this.#challenge
    const fill = kind.fill(parts, p)
    // At once: a card that makes its rounds again takes seconds, and others wait for all of them (attack 514).
    const opened = await this.#onEach(signal, async (port, device, _, signal) => {
      const tiles = kind.tiles(parts, p, device)
      const asked = Array.from({ length: part.openings }, (_, i) => drawOpening(query, device, i, part.rounds, tiles))
      const paths = await (fill === null ? port.openSeries(asked, signal) : port.openPasses(asked, signal))
      return { type: 'opened', part: p, device, paths } as const
    })
    for (const answer of opened) await this.#send(answer)
    this.#queries.push(query)
    this.#s = null
    this.#z = null
    // §7: a fill is held until its openings, and those of a later part that reads it, are answered.
    const readLater = parts.some((later, q) => q > p && kindOf(later).fill(parts, q) === fill)
    if (fill !== null && !readLater) await Promise.all(this.#devices.map((device) => blaming(device, device.release())))
  }

  /** All devices of the part at once; every root goes out as it is made, in order per device. One fault stops all. */
  async #onEach<T>(outer: AbortSignal, work: DeviceWork<T>): Promise<readonly T[]> {
    const part = this.#queries.length
    const failed = new AbortController()
    const signal = AbortSignal.any([outer, failed.signal])
    const sending: Promise<void>[] = []
    const jobs = devicesOf(this.#part).map((index, at) => {
      const onRoot = (root: Uint8Array) => {
        const roots = this.#roots[at]!
        sending.push(this.#send({ type: 'root', part, device: index, index: roots.length, root }))
        roots.push(root)
      }
      const device = this.#devices[index]!
      return work(device, index, onRoot, signal).catch((error: unknown) => {
        const blamed = blame(device, error)
        failed.abort(blamed)
        throw blamed
      })
    })
    const [first] = (await Promise.allSettled(jobs)).filter((job) => job.status === 'rejected')
    if (first) throw failed.signal.reason ?? first.reason
    await Promise.all(sending)
    return await Promise.all(jobs)
  }
}

/** Words are drawn later, and no shape depends on them. */
const UNKNOWN = new Uint8Array(32)

/** Before "ready", and so before any clock: each device sets up the series it will be asked for. */
export async function prepareDevices(
  { parts }: Challenge,
  devices: readonly Device[],
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    devices.map((device, index) => {
      const own = parts.filter((part) => devicesOf(part).includes(index))
      const shapes = own.flatMap((part) =>
        kindOf(part).phases.flatMap((phase) => {
          const task = phase.task(part, index, UNKNOWN, UNKNOWN)
          if (!('series' in task)) return []
          // A device knows a series that it has prepared by its shape alone.
          const { seed: _, ...shape } = task.series
          return [shape]
        }),
      )
      return shapes.length > 0 ? blaming(device, device.prepare?.(shapes, signal)) : undefined
    }),
  )
}
