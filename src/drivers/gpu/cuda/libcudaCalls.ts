import koffi, { type LibraryHandle } from 'koffi'
import { fault } from './faults.ts'

const NAMES =
  process.platform === 'win32'
    ? ['nvcuda.dll']
    : ['libcuda.so.1', '/usr/lib/wsl/lib/libcuda.so.1', '/usr/local/nvidia/lib64/libcuda.so.1', 'libcuda.so']

/** Arguments in C's words: p is a pointer to our memory, h a handle or device pointer, i int, u unsigned, z size_t. */
const SIGNATURES = {
  cuInit: 'u',
  cuDriverGetVersion: 'p',
  cuGetErrorName: 'ip',
  cuDeviceGetCount: 'p',
  cuDeviceGet: 'pi',
  cuDeviceGetName: 'pii',
  cuDeviceGetUuid: 'pi',
  cuDeviceGetPCIBusId: 'pii',
  cuDeviceTotalMem_v2: 'pi',
  cuDeviceGetAttribute: 'pii',
  cuDevicePrimaryCtxRetain: 'pi',
  cuDevicePrimaryCtxRelease_v2: 'i',
  cuCtxCreate_v2: 'pui',
  cuCtxDestroy_v2: 'h',
  cuCtxSetCurrent: 'h',
  cuCtxEnablePeerAccess: 'hu',
  cuMemGetInfo_v2: 'pp',
  cuMemAlloc_v2: 'pz',
  cuMemFree_v2: 'h',
  cuMemHostAlloc: 'pzu',
  cuMemHostGetDevicePointer_v2: 'phu',
  cuMemFreeHost: 'h',
  cuMemsetD8_v2: 'huz',
  cuMemcpyHtoD_v2: 'hpz',
  cuMemcpyDtoH_v2: 'phz',
  cuMemcpyAsync: 'hhzh',
  cuModuleLoadData: 'pp',
  cuModuleGetFunction: 'phs',
  cuFuncSetAttribute: 'hii',
  cuLaunchKernel: 'huuuuuuuhpp',
  cuStreamCreate: 'pu',
  cuStreamDestroy_v2: 'h',
  cuStreamSynchronize: 'h',
  cuStreamQuery: 'h',
  cuStreamBeginCapture_v2: 'hi',
  cuStreamEndCapture: 'hp',
  cuGraphInstantiateWithFlags: 'phz',
  cuGraphLaunch: 'hh',
  cuGraphDestroy: 'h',
  cuGraphExecDestroy: 'h',
  cuEventCreate: 'pu',
  cuEventRecord: 'hh',
  cuEventSynchronize: 'h',
  cuEventElapsedTime: 'phh',
  cuEventDestroy_v2: 'h',
} as const

const TYPES: Readonly<Record<string, string>> = {
  p: 'void *',
  h: 'uint64_t',
  i: 'int',
  u: 'uint',
  z: 'size_t',
  s: 'const char *',
}
/** Older drivers know some calls by another name, with the same arguments. */
const OLDER: Readonly<Record<string, string>> = { cuDevicePrimaryCtxRelease_v2: 'cuDevicePrimaryCtxRelease' }
/** CUDA_ERROR_NOT_SUPPORTED, said by us for a call the driver does not have. */
const MISSING = 801

type Argument = number | bigint | string | ArrayBufferView | null
type Call = (...args: Argument[]) => number

/** NVIDIA's names and nothing but its statuses: checked and put in our words by whoever calls. */
export type LibcudaCalls = { readonly [name in keyof typeof SIGNATURES]: Call }

/** The driver's library on this machine. Throws NO_GPU_DRIVER; a call the library lacks answers that it is missing. */
export function openLibcuda(): LibcudaCalls {
  const library = open()
  const calls: Record<string, Call> = {}
  for (const [name, letters] of Object.entries(SIGNATURES)) {
    const types = [...letters].map((letter) => TYPES[letter]!)
    calls[name] = find(library, name, types) ?? find(library, OLDER[name], types) ?? (() => MISSING)
  }
  return calls as LibcudaCalls
}

function find(library: LibraryHandle, name: string | undefined, types: string[]): Call | null {
  if (name === undefined) return null
  try {
    return library.func(name, 'int', types)
  } catch {
    return null
  }
}

function open(): LibraryHandle {
  for (const name of NAMES) {
    try {
      return koffi.load(name)
    } catch {}
  }
  throw fault('NO_GPU_DRIVER', { tried: NAMES.join(' '), names: NAMES.join(', ') })
}
