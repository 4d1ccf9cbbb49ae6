/** A file that is read piece by piece: training text, checkpoints. */
export interface ReadableFile {
  readonly length: number
  /** Exactly these bytes; a file that became shorter is a fault. */
  read(offset: number, length: number): Promise<Uint8Array>
  close(): Promise<void>
}

/** Written from front to back; it is there whole after `commit`, or not at all. */
export interface WritableFile {
  append(bytes: Uint8Array): Promise<void>
  commit(): Promise<void>
  /** Leaves nothing behind where `commit` was not called. */
  close(): Promise<void>
}
