/** A pointer or handle of the driver; 0n is none. */
export type Handle = bigint

/** bigint: a 64-bit argument (pointers); number: a 32-bit one. */
export type KernelArgument = bigint | number

export interface Launch {
  readonly kernel: Handle
  readonly blocks: readonly [x: number, y: number]
  readonly threads: number
  readonly sharedBytes?: number
  readonly stream: Handle
  readonly arguments: readonly KernelArgument[]
}

export interface HostMemory {
  /** As kernels and copies see it. */
  readonly pointer: Handle
  readonly bytes: Uint8Array
}

/**
 * What the driver does for us, in our words: every call is checked and throws a named fault. The real one is `libcuda.ts`;
 * tests hand in a fake.
 */
export interface CudaApi {
  readonly driverVersion: number
  deviceCount(): number
  deviceName(ordinal: number): string
  deviceUuid(ordinal: number): string
  devicePci(ordinal: number): string
  deviceMemory(ordinal: number): number
  /** CU_DEVICE_ATTRIBUTE_… by number. */
  deviceAttribute(ordinal: number, attribute: number): number
  /** `shared`: the primary context, one per process and card; `own`: a context nobody else has. */
  openContext(ordinal: number, kind: 'shared' | 'own'): Handle
  useContext(context: Handle): void
  closeContext(context: Handle): void
  enablePeer(context: Handle): void
  freeMemory(): { readonly freeBytes: number; readonly totalBytes: number }
  allocate(bytes: number): Handle
  free(pointer: Handle): void
  allocateHost(bytes: number): HostMemory
  freeHost(memory: HostMemory): void
  zero(pointer: Handle, bytes: number): void
  upload(to: Handle, bytes: Uint8Array): void
  download(from: Handle, length: number): Uint8Array
  copyAsync(to: Handle, from: Handle, bytes: number, stream: Handle): void
  loadModule(ptx: string): Handle
  kernel(module: Handle, name: string): Handle
  allowSharedBytes(kernel: Handle, bytes: number): void
  launch(launch: Launch): void
  createStream(): Handle
  destroyStream(stream: Handle): void
  synchronize(stream: Handle): void
  /** True when nothing is left to do on the stream; throws when the card failed. */
  idle(stream: Handle): boolean
  beginCapture(stream: Handle): void
  endCapture(stream: Handle): Handle
  launchGraph(graph: Handle, stream: Handle): void
  destroyGraph(graph: Handle): void
  createEvent(): Handle
  recordEvent(event: Handle, stream: Handle): void
  /** Milliseconds between two recorded events; waits for the second. */
  elapsedMs(from: Handle, to: Handle): number
  destroyEvent(event: Handle): void
}
