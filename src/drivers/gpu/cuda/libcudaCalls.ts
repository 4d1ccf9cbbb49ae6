import { existsSync } from 'node:fs'
import koffi from 'koffi'
import { fault } from './faults.ts'
import { bindCalls, type Calls } from './nativeCalls.ts'

const NAMES =
  process.platform === 'win32'
    ? ['nvcuda.dll']
    : ['libcuda.so.1', '/usr/lib/wsl/lib/libcuda.so.1', '/usr/local/nvidia/lib64/libcuda.so.1', 'libcuda.so']

const SIGNATURES = {
  cuInit: 'u',
  cuDriverGetVersion: 'p',
  cuGetErrorName: 'ip',
  cuDeviceGetCount: 'p',
  cuDeviceGet: 'pi',
  cuDeviceGetName: 'pii',
  cuDeviceGetUuid: 'pi',
  cuDeviceGetPCIBusId: 'pii',
  cuDeviceGetAttribute: 'pii',
  cuDeviceCanAccessPeer: 'pii',
  cuDevicePrimaryCtxRetain: 'pi',
  cuDevicePrimaryCtxRelease_v2: 'i',
  cuDevicePrimaryCtxRelease: 'i',
  cuCtxCreate_v2: 'pui',
  cuCtxDestroy_v2: 'h',
  cuCtxSetCurrent: 'h',
  cuCtxEnablePeerAccess: 'hu',
  cuMemGetInfo_v2: 'pp',
  cuMemAlloc_v2: 'pz',
  cuMemFree_v2: 'h',
  cuMemHostAlloc: 'pzu',
  cuMemFreeHost: 'h',
  cuMemsetD8_v2: 'huz',
  cuMemcpyHtoD_v2: 'hpz',
  cuMemcpyDtoH_v2: 'phz',
  cuMemcpyAsync: 'hhzh',
  cuModuleLoadData: 'pp',
  cuModuleGetFunction: 'phs',
  cuFuncSetAttribute: 'hii',
  cuLaunchKernel: 'huuuuuuuhpp',
  cuLaunchCooperativeKernel: 'huuuuuuuhp',
  cuStreamCreate: 'pu',
  cuStreamDestroy_v2: 'h',
  cuStreamSynchronize: 'h',
  cuStreamQuery: 'h',
  cuStreamWaitEvent: 'hhu',
  cuStreamBeginCapture_v2: 'hi',
  cuStreamEndCapture: 'hp',
  cuGraphInstantiateWithFlags: 'phz',
  cuGraphLaunch: 'hh',
  cuGraphDestroy: 'h',
  cuGraphExecDestroy: 'h',
  cuEventCreate: 'pu',
  cuEventRecord: 'hh',
  cuEventQuery: 'h',
  cuEventSynchronize: 'h',
  cuEventElapsedTime: 'phh',
  cuEventDestroy_v2: 'h',
} as const

/** CUDA_ERROR_NOT_SUPPORTED, said by us for a call the driver does not have. */
export const NOT_SUPPORTED = 801

export type LibcudaSignatures = typeof SIGNATURES

/** The driver's library on this machine. Throws NO_GPU_DRIVER; a call the library lacks answers NOT_SUPPORTED. */
export function openLibcuda(): Calls<LibcudaSignatures> {
  for (const name of NAMES) {
    try {
      return bindCalls(koffi.load(name), SIGNATURES, NOT_SUPPORTED)
    } catch {}
  }
  throw fault('NO_GPU_DRIVER', { ...whyMissing(existsSync), tried: NAMES.join(' '), names: NAMES.join(', ') })
}

/** A container shares the kernel of its host, and with it what the kernel says of its modules; not the driver's files. */
export const whyMissing = (exists: (path: string) => boolean) =>
  exists('/proc/driver/nvidia/version')
    ? {
        what: 'the NVIDIA driver is loaded, but this account sees nothing of it, as in a container that was given no GPUs',
        mend: 'Start the container with its GPUs (docker run --gpus all), or use the CPU device.',
      }
    : {
        what: 'no NVIDIA driver on this machine',
        mend: 'Install the NVIDIA driver (470 or newer), or use the CPU device.',
      }
