import { equalBytes } from '../../core/bytes/bytes.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { encodeInventory, type OwnInventory } from '../../core/inventory/inventory.ts'
import { decodeChallenge, readyMessage } from '../../core/proof/challenge.ts'
import { encodeFrame, FrameDecoder } from '../../core/wire/frames.ts'
import { type Answer, type HostOrder, isHostOrder, ORDERS, type Order } from '../../core/wire/messages.ts'
import type { Device } from '../../ports/device.ts'
import type { HostLanes } from '../../ports/hostLanes.ts'
import { fault } from '../shared/faults.ts'
import { type AskProcessor, ChallengeRun, prepareDevices, wrongOrder } from './challengeRun.ts'
import { DeviceFault, faultAnswer } from './deviceFault.ts'
import { sampleTelemetry } from './sampleTelemetry.ts'

/** The devices of the box, and what it says of itself. */
export interface Offer {
  readonly devices: readonly Device[]
  readonly inventory: OwnInventory
}

interface ProverDeps {
  readonly signer: Signer
  /** Asked once, and only by a validator that knows the key: who gave up there must hold no device (attack 470). */
  open(signal: AbortSignal): Promise<Offer>
  /** Left out where nothing but the devices is to be measured. */
  readonly host?: HostLanes
  /** Left out where nobody vouches for the machine around the devices. */
  readonly askProcessor?: AskProcessor
  /** What the validator writes. Its end is the validator's goodbye. */
  readonly input: AsyncIterable<Uint8Array>
  write(bytes: Uint8Array): Promise<void>
}

/**
 * The program on the box: answers orders one after the other until the validator goes. A fault is said; then it ends,
 * unless one of several devices is to blame: the others stay, and the validator may greet what is left (§4.3).
 */
export async function serveProver(deps: ProverDeps, signal: AbortSignal): Promise<void> {
  const gone = new AbortController()
  const either = AbortSignal.any([signal, gone.signal])
  const send = (answer: Answer) => deps.write(encodeFrame(answer))
  let run: ChallengeRun | null = null
  const served = new ServedDevices(deps, send)
  try {
    for await (const order of ordersOf(deps.input, hostOrders(deps.host ?? null, send, either), gone)) {
      try {
        if (order.type === 'list') {
          const { inventory } = await served.offer(either)
          await send({ type: 'inventory', inventory: encodeInventory(inventory) })
        } else run = await obey(order, run, { ...deps, devices: served.devices }, send, either)
      } catch (error) {
        if (either.aborted || !(error instanceof DeviceFault) || served.devices.length === 1) throw error
        await send(faultAnswer(error))
        await releaseAll(served.devices)
        served.lose(error.device)
        run = null
      }
      if (either.aborted) return
    }
  } catch (error) {
    if (!either.aborted) await send(faultAnswer(error))
  } finally {
    await releaseAll(served.opened)
    await deps.host?.close()
  }
}

/** The devices, opened when the validator asks which there are, and those that are left of them. */
class ServedDevices {
  /** Those that are lost too. */
  opened: readonly Device[] = []
  #offer: Offer | null = null
  readonly #deps: Pick<ProverDeps, 'open'>
  readonly #send: (answer: Answer) => Promise<void>

  constructor(deps: Pick<ProverDeps, 'open'>, send: (answer: Answer) => Promise<void>) {
    this.#deps = deps
    this.#send = send
  }

  get devices(): readonly Device[] {
    return this.#offer?.devices ?? []
  }

  async offer(signal: AbortSignal): Promise<Offer> {
    this.#offer ??= await this.#open(signal)
    return this.#offer
  }

  async #open(signal: AbortSignal): Promise<Offer> {
    const { devices, inventory } = await this.#deps.open(signal)
    this.opened = devices
    const indexOf = (device: Device): number => this.devices.indexOf(device)
    return { inventory, devices: devices.map((device) => sampleTelemetry(device, indexOf, this.#send)) }
  }

  lose(lost: Device): void {
    const { devices, inventory } = this.#offer!
    const at = devices.indexOf(lost)
    const others = <T>(list: readonly T[]) => list.filter((_, index) => index !== at)
    this.#offer = { devices: others(devices), inventory: { ...inventory, devices: others(inventory.devices) } }
  }
}

/** A card that is lost has nothing to give back, and must not keep the others from it. */
const releaseAll = (devices: readonly Device[]) => Promise.allSettled(devices.map((device) => device.release()))

const nobody: AskProcessor = async () => null

/** What is answered in turn; host orders go their own way. */
type TurnOrder = Exclude<Order, HostOrder>

type Obeying = Pick<ProverDeps, 'signer' | 'askProcessor'> & Pick<Offer, 'devices'>

async function obey(
  order: Exclude<TurnOrder, { type: 'list' }>,
  run: ChallengeRun | null,
  deps: Obeying,
  send: (answer: Answer) => Promise<void>,
  signal: AbortSignal,
): Promise<ChallengeRun | null> {
  if (order.type === 'hello') {
    await send({ type: 'welcome', key: deps.signer.publicKey })
    return run
  }
  if (order.type === 'ping') {
    await send({ type: 'pong', token: order.token })
    return run
  }
  if (order.type === 'challenge') {
    const challenge = decodeChallenge(order.bytes)
    // §4.1, attack 33: a challenge made for another key is somebody relaying; an honest prover does not lend its card.
    if (!equalBytes(challenge.proverKey, deps.signer.publicKey)) throw fault('NOT_MY_KEY')
    if (challenge.deviceCount > deps.devices.length) throw wrongOrder('more devices asked than there are')
    await prepareDevices(challenge, deps.devices, signal)
    await send({ type: 'ready', signature: deps.signer.sign(readyMessage(challenge)) })
    return new ChallengeRun(challenge, deps.devices, send)
  }
  if (!run) throw wrongOrder(`${order.type} before a challenge`)
  if (order.type === 'finish') {
    await send({ type: 'result', signature: deps.signer.sign(run.finish()) })
    await releaseAll(deps.devices)
    return null
  }
  if (order.type === 'attest') {
    await send({ type: 'attested', bundle: await run.attest(deps.askProcessor ?? nobody) })
    return run
  }
  await run.obey(order, signal)
  return run
}

/** Reads ahead while an order is being carried out, so that a validator that goes away ends the work at once. */
async function* ordersOf(
  input: AsyncIterable<Uint8Array>,
  onHost: (order: HostOrder) => void,
  gone: AbortController,
): AsyncGenerator<TurnOrder> {
  const queue: TurnOrder[] = []
  let wake = () => {}
  let ended = false
  let failure: unknown = null
  const decoder = new FrameDecoder(ORDERS)
  const pump = async () => {
    try {
      for await (const chunk of input) {
        for (const message of decoder.push(chunk) as Iterable<Order>)
          if (isHostOrder(message)) onHost(message)
          else queue.push(message)
        if (queue.length > MAX_WAITING) throw wrongOrder('too many orders at once')
        wake()
      }
    } catch (error) {
      failure = error
    }
    ended = true
    gone.abort()
    wake()
  }
  void pump()
  while (true) {
    const next = queue.shift()
    if (next) yield next
    else if (failure) throw failure
    else if (ended) return
    else await new Promise<void>((resolve) => (wake = resolve))
  }
}

/** A validator never has more than a few orders under way. */
const MAX_WAITING = 64

/** A validator waits for each answer, so it never has more under way. */
const MAX_HOST_WAITING = 4

/** §12: host orders are carried out one after the other, beside the cards' work. What fails here is said and ends nothing. */
function hostOrders(
  host: HostLanes | null,
  send: (answer: Answer) => Promise<void>,
  signal: AbortSignal,
): (order: HostOrder) => void {
  let turn: Promise<void> = Promise.resolve()
  let waiting = 0
  const carryOut = async (order: HostOrder): Promise<void> => {
    if (host === null) throw fault('HOST_NOT_OFFERED')
    if (order.type === 'store') await send({ type: 'stored', ...(await host.store(order, signal)) })
    else if (order.type === 'walk') await host.walk(order)
    else await send({ type: 'walked', lanes: await host.halt() })
  }
  return (order) => {
    if (waiting >= MAX_HOST_WAITING) return
    waiting++
    turn = turn
      .then(() => carryOut(order))
      .catch((error: unknown) => (signal.aborted ? undefined : send(faultAnswer(error, 'unable'))))
      .catch(() => {})
      .finally(() => void waiting--)
  }
}
