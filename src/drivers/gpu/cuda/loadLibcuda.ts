import koffi from 'koffi'
import { toHex } from '../../../core/bytes/hex.ts'
import type { TouchstoneError } from '../../../ports/errors.ts'
import { cudaFault } from './cudaFault.ts'
import { type LibcudaSignatures, NOT_SUPPORTED, openLibcuda } from './libcudaCalls.ts'
import { type After, type Arguments, type Calls, invoke } from './nativeCalls.ts'

/** A pointer or handle of the driver; 0n is none. */
export type Handle = bigint

/** bigint: a 64-bit argument (pointers); number: a 32-bit one. */
export type KernelArgument = bigint | number

export interface Launch {
  readonly kernel: Handle
  readonly blocks: readonly [x: number, y: number]
  readonly threads: number
  readonly sharedBytes?: number
  /** All blocks are on the card at once, so that they may wait for each other. */
  readonly isTogether?: boolean
  readonly stream: Handle
  readonly arguments: readonly KernelArgument[]
}

export interface HostMemory {
  /** As kernels and copies see it. */
  readonly pointer: Handle
  readonly bytes: Uint8Array
}

/** What the driver does for us, in our words: every call is checked and throws a named fault. Tests hand in a fake. */
export type CudaApi = Pick<Libcuda, keyof Libcuda>

const NOT_READY = 600
const PEER_ALREADY_ENABLED = 704
const HOST_MAPPED = 3 // portable and mapped: kernels write roots straight into it
const MAX_DYNAMIC_SHARED = 8
const CAPTURE_THREAD_LOCAL = 1
const NON_BLOCKING = 1
const MOST_ARGUMENTS = 32

/** The driver of this process, initialised. Throws NO_GPU_DRIVER or NO_GPU. */
export function loadLibcuda(): CudaApi {
  return new Libcuda(openLibcuda())
}

type Call = keyof LibcudaSignatures
type ArgumentsOf<Name extends Call> = Arguments<LibcudaSignatures[Name]>

class Libcuda {
  readonly #calls: Calls<LibcudaSignatures>
  readonly #out = new BigUint64Array(1)
  /** Primary contexts are given back to the device, own ones destroyed. */
  readonly #contexts = new Map<Handle, { ordinal: number; kind: 'shared' | 'own' }>()
  #card = 'NVIDIA driver'
  /** cuLaunchKernel takes the addresses of the arguments, and has copied them when it returns. */
  readonly #values = new BigUint64Array(MOST_ARGUMENTS)
  readonly #pointers = addressesIn(this.#values)

  constructor(calls: Calls<LibcudaSignatures>) {
    this.#calls = calls
    this.#do('cuInit', 0)
  }

  get driverVersion(): number {
    return this.#int('cuDriverGetVersion')
  }

  readonly deviceCount = (): number => this.#int('cuDeviceGetCount')

  deviceName(ordinal: number): string {
    const text = new Uint8Array(128)
    this.#do('cuDeviceGetName', text, text.length, this.#device(ordinal))
    return terminated(text)
  }

  deviceUuid(ordinal: number): string {
    const id = new Uint8Array(16)
    this.#do('cuDeviceGetUuid', id, this.#device(ordinal))
    return `GPU-${toHex(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`
  }

  devicePci(ordinal: number): string {
    const text = new Uint8Array(32)
    this.#do('cuDeviceGetPCIBusId', text, text.length, this.#device(ordinal))
    return terminated(text)
  }

  /** CU_DEVICE_ATTRIBUTE_… by number. */
  deviceAttribute(ordinal: number, attribute: number): number {
    return this.#int('cuDeviceGetAttribute', attribute, this.#device(ordinal))
  }

  /** Whether a card may read the memory of all others: one for games, or in a virtual machine, often may not. */
  reachesAll(ordinal: number): boolean {
    return Array.from({ length: this.deviceCount() }, (_, other) => other).every(
      (other) => other === ordinal || this.#reaches(ordinal, other),
    )
  }

  /** One that cannot even be asked for is reached by none; it is its own fault, and not that of the card that asks. */
  #reaches(ordinal: number, other: number): boolean {
    try {
      return this.#int('cuDeviceCanAccessPeer', this.#device(ordinal), this.#device(other)) !== 0
    } catch {
      return false
    }
  }

  /** The same of the card that a context is on. */
  contextAttribute(context: Handle, attribute: number): number {
    return this.deviceAttribute(this.#contexts.get(context)!.ordinal, attribute)
  }

  /** `shared`: the primary context, one per process and card; `own`: a context nobody else has. */
  openContext(ordinal: number, kind: 'shared' | 'own'): Handle {
    this.#card = `card ${ordinal}`
    this.#card = `card ${ordinal} (${this.deviceName(ordinal)})`
    const device = this.#device(ordinal)
    const context =
      kind === 'shared' ? this.#handle('cuDevicePrimaryCtxRetain', device) : this.#handle('cuCtxCreate_v2', 0, device)
    this.#contexts.set(context, { ordinal, kind })
    this.useContext(context)
    return context
  }

  readonly useContext = this.#plain('cuCtxSetCurrent')

  closeContext(context: Handle): void {
    const opened = this.#contexts.get(context)
    this.#contexts.delete(context)
    this.#calls.cuCtxSetCurrent(0n)
    if (opened?.kind !== 'shared') {
      this.#calls.cuCtxDestroy_v2(context)
      return
    }
    const device = this.#device(opened.ordinal)
    // Older drivers know the call by its first name.
    if (this.#calls.cuDevicePrimaryCtxRelease_v2(device) === NOT_SUPPORTED)
      this.#calls.cuDevicePrimaryCtxRelease(device)
  }

  enablePeer(context: Handle): void {
    const status = this.#calls.cuCtxEnablePeerAccess(context, 0)
    if (status !== PEER_ALREADY_ENABLED) this.#check('cuCtxEnablePeerAccess', status)
  }

  freeMemory(): { readonly freeBytes: number; readonly totalBytes: number } {
    const total = new BigUint64Array(1)
    this.#do('cuMemGetInfo_v2', this.#out, total)
    return { freeBytes: Number(this.#out[0]!), totalBytes: Number(total[0]!) }
  }

  readonly allocate = (bytes: number): Handle => this.#handle('cuMemAlloc_v2', bytes)

  readonly free = this.#plain('cuMemFree_v2')

  allocateHost(bytes: number): HostMemory {
    const pointer = this.#handle('cuMemHostAlloc', bytes, HOST_MAPPED)
    return { pointer, bytes: new Uint8Array(koffi.view(pointer, bytes)) }
  }

  readonly freeHost = ({ pointer }: HostMemory): void => this.#do('cuMemFreeHost', pointer)

  // Our streams do not wait for the default one, on which plain copies run: they are waited for here.
  zero(pointer: Handle, bytes: number): void {
    this.#do('cuMemsetD8_v2', pointer, 0, bytes)
    this.synchronize(0n)
  }

  upload(to: Handle, bytes: Uint8Array): void {
    this.#do('cuMemcpyHtoD_v2', to, bytes, bytes.length)
    this.synchronize(0n)
  }

  download(from: Handle, length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    this.downloadTo(bytes, from)
    return bytes
  }

  downloadTo(bytes: Uint8Array, from: Handle): void {
    this.#do('cuMemcpyDtoH_v2', bytes, from, bytes.length)
  }

  /** To, from, bytes and stream. */
  readonly copyAsync = this.#plain('cuMemcpyAsync')

  readonly loadModule = (ptx: string): Handle => this.#handle('cuModuleLoadData', new TextEncoder().encode(`${ptx}\0`))

  readonly kernel = (module: Handle, name: string): Handle => this.#handle('cuModuleGetFunction', module, name)

  readonly allowSharedBytes = (kernel: Handle, bytes: number): void =>
    this.#do('cuFuncSetAttribute', kernel, MAX_DYNAMIC_SHARED, bytes)

  launch({ kernel, blocks, threads, sharedBytes = 0, isTogether = false, stream, arguments: args }: Launch): void {
    if (args.length > MOST_ARGUMENTS) throw new RangeError(`${args.length} arguments of a kernel`)
    for (let i = 0; i < args.length; i++) this.#values[i] = BigInt(args[i]!)
    const sizes = [blocks[0], blocks[1], 1, threads, 1, 1, sharedBytes] as const
    if (isTogether) this.#do('cuLaunchCooperativeKernel', kernel, ...sizes, stream, this.#pointers)
    else this.#do('cuLaunchKernel', kernel, ...sizes, stream, this.#pointers, null)
  }

  readonly createStream = (): Handle => this.#handle('cuStreamCreate', NON_BLOCKING)
  readonly destroyStream = this.#plain('cuStreamDestroy_v2')
  readonly synchronize = this.#plain('cuStreamSynchronize')

  /** True when nothing is left to do on the stream; throws when the card failed. */
  idle = (stream: Handle): boolean => this.#isReady('cuStreamQuery', stream)

  #isReady(call: 'cuStreamQuery' | 'cuEventQuery', handle: Handle): boolean {
    const status = this.#calls[call](handle)
    if (status === NOT_READY) return false
    this.#check(call, status)
    return true
  }

  readonly beginCapture = (stream: Handle): void => this.#do('cuStreamBeginCapture_v2', stream, CAPTURE_THREAD_LOCAL)

  endCapture(stream: Handle): Handle {
    this.#do('cuStreamEndCapture', stream, this.#out)
    const graph = this.#out[0]!
    const executable = this.#handle('cuGraphInstantiateWithFlags', graph, 0)
    this.#do('cuGraphDestroy', graph)
    return executable
  }

  /** Graph and stream. */
  readonly launchGraph = this.#plain('cuGraphLaunch')
  readonly destroyGraph = this.#plain('cuGraphExecDestroy')

  readonly createEvent = (): Handle => this.#handle('cuEventCreate', 0)
  /** Event and stream. */
  readonly recordEvent = this.#plain('cuEventRecord')
  /** True when all that was queued before the event was recorded is done. */
  readonly isReached = (event: Handle): boolean => this.#isReady('cuEventQuery', event)
  readonly destroyEvent = this.#plain('cuEventDestroy_v2')
  /** What is queued on the stream from here on begins after the event. */
  readonly waitEvent = (stream: Handle, event: Handle): void => this.#do('cuStreamWaitEvent', stream, event, 0)

  /** Milliseconds between two recorded events; waits for the second. */
  elapsedMs(from: Handle, to: Handle): number {
    this.#do('cuEventSynchronize', to)
    const milliseconds = new Float32Array(1)
    this.#do('cuEventElapsedTime', milliseconds, from, to)
    return milliseconds[0]!
  }

  #device(ordinal: number): number {
    return this.#int('cuDeviceGet', ordinal)
  }

  #plain<Name extends Call>(name: Name) {
    return (...args: ArgumentsOf<Name>): void => this.#do(name, ...args)
  }

  #int<Name extends Call>(name: Name, ...args: After<ArgumentsOf<Name>>): number {
    return Number(BigInt.asIntN(32, this.#handle(name, ...args)))
  }

  #handle<Name extends Call>(name: Name, ...args: After<ArgumentsOf<Name>>): Handle {
    this.#check(name, invoke(this.#calls, name, this.#out, ...args), args)
    return this.#out[0]!
  }

  #do<Name extends Call>(name: Name, ...args: ArgumentsOf<Name>): void {
    this.#check(name, invoke(this.#calls, name, ...args), args)
  }

  #check(name: Call, status: number, args: readonly unknown[] = []): void {
    if (status !== 0) throw this.#fault(name, status, args)
  }

  /** Names the kernel that was not found, and how much memory was asked for. */
  #fault(name: Call, status: number, args: readonly unknown[]): TouchstoneError {
    const text = new BigUint64Array(1)
    const named = this.#calls.cuGetErrorName(status, text) === 0 && text[0] !== 0n
    const statusName = named ? (koffi.decode(text[0]!, 'char', -1) as string) : 'unknown status'
    const kernel = name === 'cuModuleGetFunction' ? `(${args[1]})` : ''
    const failed = { call: `${name.replace(/_v\d$/, '')}${kernel}`, status, statusName, card: this.#card }
    if (name !== 'cuMemAlloc_v2' && name !== 'cuMemHostAlloc') return cudaFault(failed)
    const known = this.#calls.cuMemGetInfo_v2(this.#out, new BigUint64Array(1)) === 0
    const freeBytes = known ? { freeBytes: Number(this.#out[0]!) } : {}
    return cudaFault({ ...failed, askedBytes: Number(args[0]), ...freeBytes })
  }
}

function addressesIn(values: BigUint64Array): BigUint64Array {
  const start = koffi.address(values) as bigint
  return BigUint64Array.from(values, (_, index) => start + BigInt(8 * index))
}

function terminated(text: Uint8Array): string {
  const end = text.indexOf(0)
  return new TextDecoder().decode(text.subarray(0, end < 0 ? text.length : end))
}
