import type { Device, DeviceFacts } from '../../../ports/device.ts'
import { scriptUrl } from '../../system/scriptUrl.ts'
import { lentFills } from '../lentFills.ts'
import { openAttester } from './attest.ts'
import { CardThread, STOP_MS } from './cardThread.ts'
import { nameXids } from './cudaFault.ts'
import { fault } from './faults.ts'
import { loadLibcuda } from './loadLibcuda.ts'
import type { FillPlace } from './memoryPart.ts'
import { loadNvml, type Nvml } from './nvml.ts'
import { nvmlFacts } from './nvmlFacts.ts'
import { openTelemetry } from './telemetry.ts'

export interface CudaDevicesOptions {
  /** Cards by the driver's numbers; all unless said otherwise. Naming one twice opens it twice. */
  readonly ordinals?: readonly number[]
  /** A context of its own keeps two devices on one card from seeing each other's memory; link parts need `shared`. */
  readonly context?: 'shared' | 'own'
  /** Bytes of fingerprints kept on a card for the openings; rounds beyond it are computed again when asked. */
  readonly keepBytes?: number
  /** A bundled release knows better where its files lie. */
  readonly kernelFolder?: string
  readonly workerScript?: URL
  /** A card that does not even stop within this is given up and its thread ended. */
  readonly stopMs?: number
  /** Told of each card that cannot be opened while another can; without it one such card fails the whole call. */
  readonly onFailure?: (fault: unknown) => void
  /** Where telemetry comes from; this machine's NVML unless said otherwise. */
  readonly nvml?: Nvml | null
}

const fills = lentFills<FillPlace>()

/**
 * Every NVIDIA card of this machine as a device, each driven from its own thread so that all run at once. A card that
 * cannot be opened is a fault that names it; where nobody wants to go on without it, the others are closed again.
 */
export async function openCudaDevices(options: CudaDevicesOptions = {}): Promise<Device[]> {
  const ordinals = options.ordinals ?? allCards()
  const script = options.workerScript ?? scriptUrl('./cardWorker.ts', import.meta.url)
  const { context = 'shared', kernelFolder = null, keepBytes = null, stopMs = STOP_MS } = options
  const threads = ordinals.map(
    (ordinal) => new CardThread(script, { ordinal, context, kernelFolder, keepBytes }, stopMs),
  )
  // While the cards open on their threads: starting NVML takes a moment.
  const nvml = options.nvml === undefined ? loadNvml() : options.nvml
  const opening = threads.map(async (thread) => cudaDevice(thread, await thread.opened, nvml))
  const settled = await Promise.allSettled(opening)
  const faults = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  const devices = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  if (faults.length === 0) return devices
  if (devices.length > 0 && options.onFailure) {
    for (const fault of faults) options.onFailure(fault)
    return devices
  }
  await Promise.all(devices.map((device) => device.close()))
  throw faults[0]
}

function allCards(): number[] {
  const count = loadLibcuda().deviceCount()
  if (count > 0) return Array.from({ length: count }, (_, ordinal) => ordinal)
  throw fault('NO_GPU', {
    what: 'the NVIDIA driver is installed but shows no card',
    mend: 'Check `nvidia-smi -L` and CUDA_VISIBLE_DEVICES on the box, or use the CPU device.',
  })
}

const never = new AbortController().signal
const nothing = () => {}

function cudaDevice(thread: CardThread, told: DeviceFacts, nvml: Nvml | null): Device {
  const pci = String(told.details.pci)
  const telemetry = nvml && openTelemetry(nvml, pci)
  const attester = nvml && openAttester(nvml, pci)
  const attests = attester ? { attests: true } : {}
  const facts = nvml ? { ...told, details: { ...told.details, ...nvmlFacts(nvml, pci), ...attests } } : told
  let place: FillPlace | null = null
  const run: CardThread['run'] = async (call, task, onRoot, signal) => {
    try {
      return await thread.run(call, task, onRoot, signal)
    } catch (error) {
      // What ended a run from outside is told as it came: it may be the fault of another card.
      throw signal.aborted ? error : nameXids(error, telemetry)
    }
  }
  const device: Device = {
    facts,
    prepare: (shapes, signal) => run('prepare', shapes, nothing, signal),
    runSeries: (task, onRoot, signal) => run('runSeries', task, onRoot, signal),
    openSeries: (asked, signal) => run('openSeries', asked, nothing, signal),
    fill: async (task, onRoot, signal) => {
      place = null
      place = await run('fill', task, onRoot, signal)
    },
    runPasses: async ({ passes, start, peer, joint }, onRoot, signal) => {
      const from = peer && peer !== device ? fills.of(peer) : null
      // The thread makes its own of the memory that all share.
      const shared = joint && { place: joint.place, devices: joint.passes.devices, shared: joint.passes.shared }
      await run('runPasses', { passes, start, peer: from, joint: shared ?? null }, onRoot, signal)
    },
    openPasses: (asked, signal) => run('openPasses', asked, nothing, signal),
    runBare: (task, signal) => run('runBare', task, nothing, signal),
    transfers: (signal) => run('transfers', undefined, nothing, signal),
    telemetry: async () => telemetry?.sample() ?? {},
    ...(attester ? { attest: async (nonce: Uint8Array) => attester(nonce) } : {}),
    release: async () => {
      place = null
      await run('release', undefined, nothing, never)
    },
    close: async () => {
      await thread.close()
      telemetry?.close()
    },
  }
  return fills.lend(device, () => place)
}
