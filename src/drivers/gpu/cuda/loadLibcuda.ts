import koffi from 'koffi'
import { toHex } from '../../../core/bytes/hex.ts'
import type { TouchstoneError } from '../../../ports/errors.ts'
import type { CudaApi, Handle, HostMemory, KernelArgument, Launch } from './cudaApi.ts'
import { cudaFault } from './cudaFault.ts'
import { type LibcudaCalls, openLibcuda } from './libcudaCalls.ts'

const NOT_READY = 600
const HOST_MAPPED = 3 // portable and mapped: kernels write roots straight into it
const MAX_DYNAMIC_SHARED = 8
const CAPTURE_THREAD_LOCAL = 1
const NON_BLOCKING = 1

/** The driver of this process, initialised. Throws NO_GPU_DRIVER or NO_GPU. */
export function loadLibcuda(): CudaApi {
  const driver = new Libcuda(openLibcuda())
  driver.start()
  return driver
}

class Libcuda implements CudaApi {
  readonly #calls: LibcudaCalls
  readonly #out = new BigUint64Array(2)
  readonly #outInt = new Int32Array(1)
  /** Primary contexts are given back to the device, own ones destroyed. */
  readonly #contexts = new Map<Handle, { ordinal: number; kind: 'shared' | 'own' }>()
  #card = 'NVIDIA driver'

  constructor(calls: LibcudaCalls) {
    this.#calls = calls
  }

  start(): void {
    this.#check('cuInit', this.#calls.cuInit(0))
  }

  get driverVersion(): number {
    return this.#int('cuDriverGetVersion', this.#calls.cuDriverGetVersion(this.#outInt))
  }

  deviceCount(): number {
    return this.#int('cuDeviceGetCount', this.#calls.cuDeviceGetCount(this.#outInt))
  }

  deviceName(ordinal: number): string {
    const text = new Uint8Array(128)
    this.#check('cuDeviceGetName', this.#calls.cuDeviceGetName(text, text.length, this.#device(ordinal)))
    return terminated(text)
  }

  deviceUuid(ordinal: number): string {
    const id = new Uint8Array(16)
    this.#check('cuDeviceGetUuid', this.#calls.cuDeviceGetUuid(id, this.#device(ordinal)))
    return `GPU-${toHex(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`
  }

  devicePci(ordinal: number): string {
    const text = new Uint8Array(32)
    this.#check('cuDeviceGetPCIBusId', this.#calls.cuDeviceGetPCIBusId(text, text.length, this.#device(ordinal)))
    return terminated(text)
  }

  deviceMemory(ordinal: number): number {
    return this.#number('cuDeviceTotalMem', this.#calls.cuDeviceTotalMem_v2(this.#out, this.#device(ordinal)))
  }

  deviceAttribute(ordinal: number, attribute: number): number {
    const status = this.#calls.cuDeviceGetAttribute(this.#outInt, attribute, this.#device(ordinal))
    return this.#int('cuDeviceGetAttribute', status)
  }

  openContext(ordinal: number, kind: 'shared' | 'own'): Handle {
    this.#card = `card ${ordinal}`
    this.#card = `card ${ordinal} (${this.deviceName(ordinal)})`
    const device = this.#device(ordinal)
    const context =
      kind === 'shared'
        ? this.#handle('cuDevicePrimaryCtxRetain', this.#calls.cuDevicePrimaryCtxRetain(this.#out, device))
        : this.#handle('cuCtxCreate', this.#calls.cuCtxCreate_v2(this.#out, 0, device))
    this.#contexts.set(context, { ordinal, kind })
    this.useContext(context)
    return context
  }

  useContext(context: Handle): void {
    this.#check('cuCtxSetCurrent', this.#calls.cuCtxSetCurrent(context))
  }

  closeContext(context: Handle): void {
    const opened = this.#contexts.get(context)
    this.#contexts.delete(context)
    this.#calls.cuCtxSetCurrent(0n)
    if (opened?.kind === 'shared') this.#calls.cuDevicePrimaryCtxRelease_v2(this.#device(opened.ordinal))
    else this.#calls.cuCtxDestroy_v2(context)
  }

  enablePeer(context: Handle): void {
    const status = this.#calls.cuCtxEnablePeerAccess(context, 0)
    const alreadyEnabled = 704
    if (status !== alreadyEnabled) this.#check('cuCtxEnablePeerAccess', status)
  }

  freeMemory(): { freeBytes: number; totalBytes: number } {
    const total = new BigUint64Array(1)
    this.#check('cuMemGetInfo', this.#calls.cuMemGetInfo_v2(this.#out, total))
    return { freeBytes: Number(this.#out[0]!), totalBytes: Number(total[0]!) }
  }

  allocate(bytes: number): Handle {
    const status = this.#calls.cuMemAlloc_v2(this.#out, bytes)
    if (status !== 0) throw this.#fault('cuMemAlloc', status, bytes)
    return this.#out[0]!
  }

  free(pointer: Handle): void {
    this.#check('cuMemFree', this.#calls.cuMemFree_v2(pointer))
  }

  allocateHost(bytes: number): HostMemory {
    const status = this.#calls.cuMemHostAlloc(this.#out, bytes, HOST_MAPPED)
    if (status !== 0) throw this.#fault('cuMemHostAlloc', status, bytes)
    const pointer = this.#out[0]!
    return { pointer, bytes: new Uint8Array(koffi.view(pointer, bytes)) }
  }

  freeHost(memory: HostMemory): void {
    this.#check('cuMemFreeHost', this.#calls.cuMemFreeHost(memory.pointer))
  }

  zero(pointer: Handle, bytes: number): void {
    this.#check('cuMemsetD8', this.#calls.cuMemsetD8_v2(pointer, 0, bytes))
    this.#settle()
  }

  upload(to: Handle, bytes: Uint8Array): void {
    this.#check('cuMemcpyHtoD', this.#calls.cuMemcpyHtoD_v2(to, bytes, bytes.length))
    this.#settle()
  }

  download(from: Handle, length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    this.#check('cuMemcpyDtoH', this.#calls.cuMemcpyDtoH_v2(bytes, from, length))
    return bytes
  }

  copyAsync(to: Handle, from: Handle, bytes: number, stream: Handle): void {
    this.#check('cuMemcpyAsync', this.#calls.cuMemcpyAsync(to, from, bytes, stream))
  }

  loadModule(ptx: string): Handle {
    const text = new TextEncoder().encode(`${ptx}\0`)
    return this.#handle('cuModuleLoadData', this.#calls.cuModuleLoadData(this.#out, text))
  }

  kernel(module: Handle, name: string): Handle {
    return this.#handle(`cuModuleGetFunction(${name})`, this.#calls.cuModuleGetFunction(this.#out, module, name))
  }

  allowSharedBytes(kernel: Handle, bytes: number): void {
    this.#check('cuFuncSetAttribute', this.#calls.cuFuncSetAttribute(kernel, MAX_DYNAMIC_SHARED, bytes))
  }

  launch({ kernel, blocks, threads, sharedBytes = 0, stream, arguments: args }: Launch): void {
    const { values, pointers } = kernelArguments(args)
    const [x, y] = blocks
    const status = this.#calls.cuLaunchKernel(kernel, x, y, 1, threads, 1, 1, sharedBytes, stream, pointers, null)
    this.#check('cuLaunchKernel', status)
    if (values.length < args.length) throw new RangeError('kernel arguments were lost')
  }

  createStream(): Handle {
    return this.#handle('cuStreamCreate', this.#calls.cuStreamCreate(this.#out, NON_BLOCKING))
  }

  destroyStream(stream: Handle): void {
    this.#check('cuStreamDestroy', this.#calls.cuStreamDestroy_v2(stream))
  }

  synchronize(stream: Handle): void {
    this.#check('cuStreamSynchronize', this.#calls.cuStreamSynchronize(stream))
  }

  idle(stream: Handle): boolean {
    const status = this.#calls.cuStreamQuery(stream)
    if (status === NOT_READY) return false
    this.#check('cuStreamQuery', status)
    return true
  }

  beginCapture(stream: Handle): void {
    this.#check('cuStreamBeginCapture', this.#calls.cuStreamBeginCapture_v2(stream, CAPTURE_THREAD_LOCAL))
  }

  endCapture(stream: Handle): Handle {
    const graph = this.#handle('cuStreamEndCapture', this.#calls.cuStreamEndCapture(stream, this.#out))
    const status = this.#calls.cuGraphInstantiateWithFlags(this.#out, graph, 0)
    const executable = this.#handle('cuGraphInstantiate', status)
    this.#check('cuGraphDestroy', this.#calls.cuGraphDestroy(graph))
    return executable
  }

  launchGraph(graph: Handle, stream: Handle): void {
    this.#check('cuGraphLaunch', this.#calls.cuGraphLaunch(graph, stream))
  }

  destroyGraph(graph: Handle): void {
    this.#check('cuGraphExecDestroy', this.#calls.cuGraphExecDestroy(graph))
  }

  createEvent(): Handle {
    return this.#handle('cuEventCreate', this.#calls.cuEventCreate(this.#out, 0))
  }

  recordEvent(event: Handle, stream: Handle): void {
    this.#check('cuEventRecord', this.#calls.cuEventRecord(event, stream))
  }

  elapsedMs(from: Handle, to: Handle): number {
    this.#check('cuEventSynchronize', this.#calls.cuEventSynchronize(to))
    const milliseconds = new Float32Array(1)
    this.#check('cuEventElapsedTime', this.#calls.cuEventElapsedTime(milliseconds, from, to))
    return milliseconds[0]!
  }

  destroyEvent(event: Handle): void {
    this.#check('cuEventDestroy', this.#calls.cuEventDestroy_v2(event))
  }

  /** Our streams do not wait for the default one, on which plain copies run: wait for it here. */
  #settle(): void {
    this.synchronize(0n)
  }

  #device(ordinal: number): number {
    return this.#int('cuDeviceGet', this.#calls.cuDeviceGet(this.#outInt, ordinal))
  }

  #handle(call: string, status: number): Handle {
    this.#check(call, status)
    return this.#out[0]!
  }

  #number(call: string, status: number): number {
    return Number(this.#handle(call, status))
  }

  #int(call: string, status: number): number {
    this.#check(call, status)
    return this.#outInt[0]!
  }

  #check(call: string, status: number): void {
    if (status !== 0) throw this.#fault(call, status)
  }

  #fault(call: string, status: number, askedBytes?: number): TouchstoneError {
    const name = new BigUint64Array(1)
    const named = this.#calls.cuGetErrorName(status, name) === 0 && name[0] !== 0n
    const statusName = named ? (koffi.decode(name[0]!, 'char', -1) as string) : 'unknown status'
    const card = this.#card
    if (askedBytes === undefined) return cudaFault({ call, status, statusName, card })
    const known = this.#calls.cuMemGetInfo_v2(this.#out, new BigUint64Array(1)) === 0
    return cudaFault({
      call,
      status,
      statusName,
      card,
      askedBytes,
      ...(known ? { freeBytes: Number(this.#out[0]!) } : {}),
    })
  }
}

/** cuLaunchKernel takes the addresses of the arguments; the driver copies them before it returns. */
function kernelArguments(args: readonly KernelArgument[]): { values: BigUint64Array; pointers: BigUint64Array } {
  const values = BigUint64Array.from(args, (argument) => BigInt(argument))
  const start = koffi.address(values) as bigint
  const pointers = BigUint64Array.from(args, (_, index) => start + BigInt(8 * index))
  return { values, pointers }
}

function terminated(text: Uint8Array): string {
  const end = text.indexOf(0)
  return new TextDecoder().decode(text.subarray(0, end < 0 ? text.length : end))
}
