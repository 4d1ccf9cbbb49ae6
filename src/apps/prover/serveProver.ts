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

interface ProverDeps {
  readonly devices: readonly Device[]
  readonly signer: Signer
  readonly inventory: OwnInventory
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
  const indexOf = (device: Device): number => served.devices.indexOf(device)
  let served: Served = { ...deps, devices: deps.devices.map((device) => sampleTelemetry(device, indexOf, send)) }
  try {
    for await (const order of ordersOf(deps.input, hostOrders(deps.host ?? null, send, either), gone)) {
      try {
        run = await obey(order, run, { ...deps, ...served }, send, either)
      } catch (error) {
        if (either.aborted || !(error instanceof DeviceFault) || served.devices.length === 1) throw error
        await send(faultAnswer(error))
        await releaseAll(served.devices)
        served = without(served, error.device)
        run = null
      }
      if (either.aborted) return
    }
  } catch (error) {
    if (!either.aborted) await send(faultAnswer(error))
  } finally {
    await releaseAll(deps.devices)
    await deps.host?.close()
  }
}

type Served = Pick<ProverDeps, 'devices' | 'inventory'>

function without({ devices, inventory }: Served, lost: Device): Served {
  const at = devices.indexOf(lost)
  const others = <T>(list: readonly T[]) => list.filter((_, index) => index !== at)
  return { devices: others(devices), inventory: { ...inventory, devices: others(inventory.devices) } }
}

/** A card that is lost has nothing to give back, and must not keep the others from it. */
const releaseAll = (devices: readonly Device[]) => Promise.allSettled(devices.map((device) => device.release()))

const nobody: AskProcessor = async () => null

/** What is answered in turn; host orders go their own way. */
type TurnOrder = Exclude<Order, HostOrder>

async function obey(
  order: TurnOrder,
  run: ChallengeRun | null,
  deps: ProverDeps,
  send: (answer: Answer) => Promise<void>,
  signal: AbortSignal,
): Promise<ChallengeRun | null> {
  if (order.type === 'hello') {
    await send({ type: 'welcome', key: deps.signer.publicKey, inventory: encodeInventory(deps.inventory) })
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
