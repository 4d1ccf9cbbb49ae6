import { equalBytes } from '../../core/bytes/bytes.ts'
import {
  type Challenge,
  challengeHash,
  devicesOf,
  drawSpace,
  encodeChallenge,
  fillPartOf,
  type Part,
} from '../../core/proof/challenge.ts'
import { drawOpening, queryHash } from '../../core/proof/query.ts'
import { nonceHash, partSeed } from '../../core/proof/seeds.ts'
import { resultMessage } from '../../core/proof/signatures.ts'
import type { Answer, Order } from '../../core/wire/messages.ts'
import type { Device, OnRoot } from '../../ports/device.ts'
import { blame, blaming } from './deviceFault.ts'
import { wrongOrder } from './wrongOrder.ts'

type DeviceWork = (device: Device, index: number, onRoot: OnRoot, signal: AbortSignal) => Promise<void>
type PartOrder = Extract<Order, { part: number }>

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

  /** §10. The message both sides sign, once every part is opened. */
  finish(): Uint8Array {
    if (this.#queries.length !== this.#challenge.parts.length) throw wrongOrder('finish before the last part')
    return resultMessage(this.#challenge, this.#queries)
  }

  async #start(s: Uint8Array, signal: AbortSignal): Promise<void> {
    if (this.#s) throw wrongOrder('start twice')
    this.#s = s
    this.#roots = devicesOf(this.#part).map(() => [])
    const part = this.#part
    await this.#onEach(signal, (device, index, onRoot, signal) => {
      const seed = partSeed(this.#x, s, this.#queries.length, index)
      const { m, n, k, rounds, precision, kind, kept } = part
      if (kind === 'memory') return device.fill({ m, n, k, seed, kept: kept[index]! }, onRoot, signal)
      if (kind === 'link')
        return device.runPasses({ passes: rounds, start: s, peer: this.#peerOf(index) }, onRoot, signal)
      return device.runChain({ kind, precision, m, n, k, rounds, seed }, onRoot, signal)
    })
  }

  async #passes(z: Uint8Array, signal: AbortSignal): Promise<void> {
    if (!this.#s || this.#z || this.#part.kind !== 'memory') throw wrongOrder('passes out of turn')
    this.#z = z
    const passes = this.#part.rounds
    await this.#onEach(signal, (device, _, onRoot, signal) => device.runPasses({ passes, start: z }, onRoot, signal))
  }

  async #open(nonce: Uint8Array, signal: AbortSignal): Promise<void> {
    const part = this.#part
    if (!this.#s || (part.kind === 'memory') !== (this.#z !== null)) throw wrongOrder('reveal before the roots')
    if (!equalBytes(nonceHash(nonce), part.nonceHash)) throw wrongOrder('a nonce that is not the committed one')
    const z = this.#z
    const query = queryHash({ x: this.#x, s: this.#s, nonce, ...(z ? { z } : {}), roots: this.#roots })
    const p = this.#queries.length
    for (const device of devicesOf(part)) {
      const { rounds, tiles } = drawSpace(this.#challenge, p, device)
      const asked = Array.from({ length: part.openings }, (_, i) => drawOpening(query, device, i, rounds, tiles))
      const chained = part.kind === 'rounds' || part.kind === 'bind'
      const port = this.#devices[device]!
      const paths = await blaming(port, chained ? port.openChain(asked, signal) : port.openPasses(asked, signal))
      await this.#send({ type: 'opened', part: p, device, paths })
    }
    this.#queries.push(query)
    this.#s = null
    this.#z = null
    await this.#releaseUnneeded(p)
  }

  /** §7: a fill is held until its openings, and those of a link part that reads it, are answered. */
  async #releaseUnneeded(answered: number): Promise<void> {
    const { parts } = this.#challenge
    const fill = fillPartOf(this.#challenge, answered)
    const linked = parts.some(
      (part, p) => p > answered && part.kind === 'link' && fillPartOf(this.#challenge, p) === fill,
    )
    if (parts[answered]!.kind === 'rounds' || parts[answered]!.kind === 'bind' || linked) return
    await Promise.all(this.#devices.map((device) => blaming(device, device.release())))
  }

  #peerOf(device: number): Device {
    const { deviceCount } = this.#challenge
    return this.#devices[(device + deviceCount - 1) % deviceCount]!
  }

  /** All devices of the part at once; every root goes out as it is made, in order per device. One fault stops all. */
  async #onEach(outer: AbortSignal, work: DeviceWork): Promise<void> {
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
        const fault = blame(device, error)
        failed.abort(fault)
        throw fault
      })
    })
    const [first] = (await Promise.allSettled(jobs)).filter((job) => job.status === 'rejected')
    if (first) throw failed.signal.reason ?? first.reason
    await Promise.all(sending)
  }
}
