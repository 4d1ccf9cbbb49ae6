import { NOT_FOUND, type Nvml, type NvmlCall } from '../../src/drivers/gpu/cuda/nvml.ts'

/** NVML with one card that is cool, has no trouble and tells the Xids a test puts in `pending`. */
export function fakeNvml(failing: Partial<Record<NvmlCall, number>> = {}) {
  const told = {
    /** Xids the driver has still to tell, one event each. */
    pending: [] as number[],
    /** Event sets made and not freed. */
    sets: 0,
  }
  const calls: Partial<Record<PropertyKey, (...args: never[]) => number>> = {
    nvmlDeviceGetHandleByPciBusId_v2: (_: string, out: BigUint64Array) => given(out, 5n),
    nvmlDeviceGetTemperature: (_: bigint, __: number, out: Uint32Array) => given(out, 40),
    nvmlSystemGetDriverVersion: (text: Uint8Array) => describe(text, 0, '580.1'),
    nvmlDeviceGetPciInfo_v3: (_: bigint, info: Uint8Array) => describePci(info),
    nvmlEventSetCreate: (out: BigUint64Array) => {
      told.sets++
      return given(out, 77n)
    },
    nvmlDeviceRegisterEvents: (card: bigint, types: bigint, set: bigint) => wrong(card, 5n, types, 8n, set, 77n),
    nvmlEventSetFree: () => {
      told.sets--
      return 0
    },
    nvmlEventSetWait_v2: (_: bigint, event: Uint8Array) => tell(event, told.pending.shift()),
    ...Object.fromEntries(Object.entries(failing).map(([call, status]) => [call, () => status])),
  }
  const notFound = () => NOT_FOUND
  const get = (_: typeof told, name: PropertyKey) => Reflect.get(told, name) ?? calls[name] ?? notFound
  return new Proxy(told, { get }) as typeof told & Nvml
}

function given<T extends BigUint64Array | Uint32Array>(out: T, value: T[0]): number {
  out[0] = value!
  return 0
}

/** nvmlPciInfo_t of an H200 at 17:00.0. */
function describePci(info: Uint8Array): number {
  const view = new DataView(info.buffer)
  view.setUint32(28, 0x233510de, true)
  view.setUint32(32, 0x18be10de, true)
  return describe(info, 36, '00000000:17:00.0')
}

function describe(bytes: Uint8Array, at: number, text: string): number {
  bytes.set(new TextEncoder().encode(`${text}\0`), at)
  return 0
}

const INVALID_ARGUMENT = 2
const TIMEOUT = 10

const wrong = (...pairs: bigint[]): number =>
  pairs.every((value, i) => i % 2 === 1 || value === pairs[i + 1]) ? 0 : INVALID_ARGUMENT

function tell(bytes: Uint8Array, xid: number | undefined): number {
  if (xid === undefined) return TIMEOUT
  const event = new DataView(bytes.buffer)
  event.setBigUint64(0, 5n, true)
  event.setBigUint64(8, 8n, true)
  event.setBigUint64(16, BigInt(xid), true)
  event.setUint32(24, 0xffffffff, true)
  event.setUint32(28, 0xffffffff, true)
  return 0
}
