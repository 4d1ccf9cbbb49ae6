import koffi from 'koffi'
import { bindCalls, type Calls } from './nativeCalls.ts'

const NAMES = process.platform === 'win32' ? ['nvml.dll'] : ['libnvidia-ml.so.1', '/usr/lib/wsl/lib/libnvidia-ml.so.1']

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
  nvmlDeviceGetMaxPcieLinkWidth: 'hp',
  nvmlDeviceGetMaxPcieLinkGeneration: 'hp',
  nvmlDeviceGetEccMode: 'hpp',
  nvmlDeviceGetRemappedRows: 'hpppp',
  nvmlDeviceGetVirtualizationMode: 'hp',
  nvmlDeviceGetMigMode: 'hpp',
  nvmlDeviceGetComputeMode: 'hp',
  nvmlDeviceGetComputeRunningProcesses_v3: 'hpp',
  nvmlSystemGetConfComputeState: 'p',
  nvmlDeviceGetArchitecture: 'hp',
  nvmlDeviceGetConfComputeGpuCertificate: 'hp',
  nvmlDeviceGetConfComputeGpuAttestationReport: 'hp',
  nvmlEventSetCreate: 'p',
  nvmlDeviceRegisterEvents: 'hhh',
  nvmlEventSetWait_v2: 'hpi',
  nvmlEventSetFree: 'h',
} as const

/** NVML_ERROR_FUNCTION_NOT_FOUND, said by us for a call that an older library lacks: what needs it is left out. */
export const NOT_FOUND = 13

export type NvmlCall = keyof typeof SIGNATURES

/** NVML's calls by name; 0 is success. Tests hand in a fake. */
export type Nvml = Calls<typeof SIGNATURES>

let library: Nvml | null | undefined

/** NVML of this process, initialised once, or null where there is none. */
export function loadNvml(): Nvml | null {
  library = library === undefined ? load() : library
  return library
}

function load(): Nvml | null {
  for (const name of NAMES) {
    try {
      const nvml = bindCalls(koffi.load(name), SIGNATURES, NOT_FOUND)
      if (nvml.nvmlInit_v2() === 0) return nvml
    } catch {}
  }
  return null
}
