import koffi from 'koffi'

export type TelemetrySample = Readonly<Record<string, string | number | boolean>>

export interface Telemetry {
  sample(): TelemetrySample
}

const NAMES = process.platform === 'win32' ? ['nvml.dll'] : ['libnvidia-ml.so.1', '/usr/lib/wsl/lib/libnvidia-ml.so.1']

type Argument = number | bigint | ArrayBufferView | null | string
type Call = (...args: Argument[]) => number

const SIGNATURES = {
  nvmlInit_v2: '',
  nvmlDeviceGetHandleByPciBusId_v2: 'sp',
  nvmlDeviceGetClockInfo: 'hip',
  nvmlDeviceGetMaxClockInfo: 'hip',
  nvmlDeviceGetTemperature: 'hip',
  nvmlDeviceGetPowerUsage: 'hp',
  nvmlDeviceGetEnforcedPowerLimit: 'hp',
  nvmlDeviceGetCurrentClocksThrottleReasons: 'hp',
  nvmlDeviceGetUtilizationRates: 'hp',
  nvmlDeviceGetTotalEccErrors: 'hiip',
  nvmlDeviceGetCurrPcieLinkWidth: 'hp',
  nvmlDeviceGetCurrPcieLinkGeneration: 'hp',
  nvmlDeviceGetMigMode: 'hpp',
  nvmlDeviceGetComputeMode: 'hp',
  nvmlDeviceGetComputeRunningProcesses_v3: 'hpp',
} as const
type Name = keyof typeof SIGNATURES
const TYPES: Readonly<Record<string, string>> = { p: 'void *', h: 'uint64_t', i: 'int', s: 'const char *' }

const CLOCK = { graphics: 0, sm: 1, memory: 2 } as const
const COMPUTE_MODES = ['shared', 'exclusiveThread', 'prohibited', 'exclusive'] as const
/** nvmlClocksThrottleReason bits that people know by name. */
const REASONS: readonly (readonly [bit: number, name: string])[] = [
  [0x1, 'idle'],
  [0x2, 'applicationClocks'],
  [0x4, 'powerLimit'],
  [0x8, 'hardwareSlowdown'],
  [0x10, 'syncBoost'],
  [0x20, 'thermalSoftware'],
  [0x40, 'thermalHardware'],
  [0x80, 'powerBrake'],
  [0x100, 'displayClocks'],
]

export const throttleNames = (bits: number): string =>
  REASONS.filter(([bit]) => (bits & bit) !== 0)
    .map(([, name]) => name)
    .join(' ')

let library: Map<Name, Call> | null | undefined

function load(): Map<Name, Call> | null {
  for (const name of NAMES) {
    try {
      const opened = koffi.load(name)
      const calls = new Map<Name, Call>()
      for (const [call, letters] of Object.entries(SIGNATURES)) {
        try {
          const types = [...letters].map((letter) => TYPES[letter]!)
          calls.set(call as Name, opened.func(call, 'int', types) as unknown as Call)
        } catch {} // older NVML: that one value is left out
      }
      if (calls.get('nvmlInit_v2')?.() === 0) return calls
    } catch {}
  }
  return null
}

/** NVML's view of the card at this PCI address, or null where there is no NVML. Claims: shown, never used to accept. */
export function openTelemetry(pci: string): Telemetry | null {
  library = library === undefined ? load() : library
  const calls = library
  if (!calls) return null
  const handle = new BigUint64Array(1)
  if (calls.get('nvmlDeviceGetHandleByPciBusId_v2')?.(pci, handle) !== 0) return null
  return { sample: () => sampleCard(calls, handle[0]!) }
}

function sampleCard(calls: Map<Name, Call>, card: bigint): TelemetrySample {
  const sample: Record<string, string | number | boolean> = {}
  const out = new Uint32Array(2)
  const read = (call: Name, ...args: number[]): number | null =>
    calls.get(call)?.(card, ...args, out) === 0 ? out[0]! : null
  const note = (name: string, value: string | number | boolean | null) => {
    if (value !== null) sample[name] = value
  }
  const scaled = (value: number | null, by: number) => (value === null ? null : value / by)
  note('smClockMhz', read('nvmlDeviceGetClockInfo', CLOCK.sm))
  note('memoryClockMhz', read('nvmlDeviceGetClockInfo', CLOCK.memory))
  note('maxSmClockMhz', read('nvmlDeviceGetMaxClockInfo', CLOCK.sm))
  note('temperatureC', read('nvmlDeviceGetTemperature', 0))
  note('powerWatts', scaled(read('nvmlDeviceGetPowerUsage'), 1000))
  note('powerLimitWatts', scaled(read('nvmlDeviceGetEnforcedPowerLimit'), 1000))
  const reasons = read('nvmlDeviceGetCurrentClocksThrottleReasons')
  note('throttle', reasons === null ? null : throttleNames(reasons))
  note('busyPercent', read('nvmlDeviceGetUtilizationRates'))
  note('pcieWidth', read('nvmlDeviceGetCurrPcieLinkWidth'))
  note('pcieGeneration', read('nvmlDeviceGetCurrPcieLinkGeneration'))
  const mode = read('nvmlDeviceGetComputeMode')
  note('computeMode', mode === null ? null : (COMPUTE_MODES[mode] ?? 'unknown'))
  note('eccUncorrected', ecc(calls, card))
  const pending = new Uint32Array(1)
  if (calls.get('nvmlDeviceGetMigMode')?.(card, out, pending) === 0) sample.mig = out[0] === 1
  note('processes', processes(calls, card))
  return sample
}

/** Uncorrected errors since the driver was loaded. */
function ecc(calls: Map<Name, Call>, card: bigint): number | null {
  const count = new BigUint64Array(1)
  const [uncorrected, sinceLoad] = [1, 0]
  return calls.get('nvmlDeviceGetTotalEccErrors')?.(card, uncorrected, sinceLoad, count) === 0
    ? Number(count[0]!)
    : null
}

/** How many processes compute on the card, ours included; a count of 0 asks NVML for the number alone. */
function processes(calls: Map<Name, Call>, card: bigint): number | null {
  const count = new Uint32Array(1)
  const status = calls.get('nvmlDeviceGetComputeRunningProcesses_v3')?.(card, count, null)
  const insufficientSize = 7
  return status === 0 || status === insufficientSize ? count[0]! : null
}
