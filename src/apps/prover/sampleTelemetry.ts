import type { Answer } from '../../core/wire/messages.ts'
import type { Device } from '../../ports/device.ts'

const EVERY_MS = 500

/** A link part names its peer: drivers must meet the device they made, not the one wrapped around it. */
const inner = new WeakMap<Device, Device>()

/** The same device, telling its telemetry (§1: claims) about twice a second while it works; its number may change. */
export function sampleTelemetry(
  device: Device,
  indexOf: (sampled: Device) => number,
  send: (answer: Answer) => Promise<void>,
): Device {
  if (!device.telemetry) return device
  const sample = async () => {
    const text = JSON.stringify(await device.telemetry!())
    await send({ type: 'telemetry', device: indexOf(sampled), sample: new TextEncoder().encode(text) })
  }
  const during = async (work: Promise<void>): Promise<void> => {
    const timer = setInterval(() => void sample().catch(() => clearInterval(timer)), EVERY_MS)
    try {
      await work
    } finally {
      clearInterval(timer)
    }
  }
  const sampled: Device = {
    ...device,
    runSeries: (task, onRoot, signal) => during(device.runSeries(task, onRoot, signal)),
    fill: (task, onRoot, signal) => during(device.fill(task, onRoot, signal)),
    runPasses: ({ peer, ...task }, onRoot, signal) =>
      during(device.runPasses(peer ? { ...task, peer: inner.get(peer) ?? peer } : task, onRoot, signal)),
  }
  inner.set(sampled, device)
  return sampled
}
