import koffi from 'koffi'

const NAMES = process.platform === 'win32' ? ['nvml.dll'] : ['libnvidia-ml.so.1', '/usr/lib/wsl/lib/libnvidia-ml.so.1']

/** Arguments in C's words: p is a pointer to our memory, h a handle or 64 bits, i int, s text. */
const SIGNATURES = {
  nvmlInit_v2: '',
  nvmlSystemGetDriverVersion: 'pi',
  nvmlDeviceGetHandleByPciBusId_v2: 'sp',
  nvmlDeviceGetPciInfo_v3: 'hp',
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
  nvmlEventSetCreate: 'p',
  nvmlDeviceRegisterEvents: 'hhh',
  nvmlEventSetWait_v2: 'hpi',
  nvmlEventSetFree: 'h',
} as const
const TYPES: Readonly<Record<string, string>> = { p: 'void *', h: 'uint64_t', i: 'int', s: 'const char *' }

export type NvmlCall = keyof typeof SIGNATURES
type Argument = number | bigint | ArrayBufferView | null | string

/** NVML's calls by name; 0 is success. Older libraries lack some: what needs them is left out. Tests hand in a fake. */
export type Nvml = ReadonlyMap<NvmlCall, (...args: Argument[]) => number>

let library: Nvml | null | undefined

/** NVML of this process, initialised once, or null where there is none. */
export function loadNvml(): Nvml | null {
  library = library === undefined ? load() : library
  return library
}

function load(): Nvml | null {
  for (const name of NAMES) {
    try {
      const opened = koffi.load(name)
      const calls = new Map<NvmlCall, (...args: Argument[]) => number>()
      for (const [call, letters] of Object.entries(SIGNATURES)) {
        try {
          const types = [...letters].map((letter) => TYPES[letter]!)
          calls.set(call as NvmlCall, opened.func(call, 'int', types))
        } catch {} // older NVML: that one value is left out
      }
      if (calls.get('nvmlInit_v2')?.() === 0) return calls
    } catch {}
  }
  return null
}
