import { type FileHandle, statfs } from 'node:fs/promises'
import { freemem } from 'node:os'
import { HOST_BLOCK_BYTES, MAX_HOST_BLOCKS, MAX_LANES, MAX_STRIDE } from '../../core/params/hostParts.ts'
import type { HostLanes, StoreTask, WalkTask } from '../../ports/hostLanes.ts'
import { AskedThread } from '../system/askedThread.ts'
import { scriptUrl } from '../system/scriptUrl.ts'
import { stopOnAbort } from '../system/stopOnAbort.ts'
import { fault } from './faults.ts'
import { chooseRounds } from './hostRounds.ts'
import { laneStart } from './hostWalk.ts'
import type { Blocks, LaneAnswer, LaneJob, LaneMessage } from './laneJobs.ts'
import { openNamelessFile } from './openNamelessFile.ts'

const BUFFER_BYTES = 2 ** 30
const script = scriptUrl('./laneWorker.ts', import.meta.url)

type LaneThread = AskedThread<LaneMessage, LaneAnswer>

interface Stored {
  /** Null for lanes of a processor, which have a table each. */
  readonly blocks: Blocks | null
  readonly count: number
  readonly files: readonly FileHandle[]
}

/** Lanes on this machine; a disk is one that holds `folder`. */
export const openHostLanes = (folder: string): HostLanes => new Lanes(folder)

class Lanes implements HostLanes {
  readonly #folder: string
  readonly #stop = new SharedArrayBuffer(4)
  readonly #threads: LaneThread[] = []
  #stored: Stored | null = null
  #walking: Promise<readonly (Uint8Array | null)[]> | null = null

  constructor(folder: string) {
    this.#folder = folder
  }

  async store(task: StoreTask, signal: AbortSignal): Promise<{ readonly pastCache: boolean }> {
    const { target, seed, blocks: count, lanes } = task
    if (this.#walking || !within(count, MAX_HOST_BLOCKS) || !within(lanes, MAX_LANES))
      throw refused('a store like this')
    await this.#forget()
    while (this.#threads.length < lanes) this.#threads.push(new AskedThread(script))
    if (target === 'cpu') return await this.#ready(lanes)
    const { blocks, ...stored } = target === 'memory' ? inMemory(count) : await onDisk(this.#folder, count)
    const fill = () => this.#onLanes(lanes, count, (from) => ({ kind: 'fill', blocks, seed, from }))
    this.#halt(0)
    try {
      await stopOnAbort(signal, () => this.#halt(1), fill)
      await stored.files[0]?.sync()
    } catch (error) {
      await closeAll(stored)
      throw error
    }
    this.#stored = { blocks, ...stored }
    return { pastCache: stored.files.length === 2 }
  }

  /** Kernels are loaded before any clock runs. */
  async #ready(lanes: number): Promise<{ readonly pastCache: boolean }> {
    const start = await chooseRounds()
    await this.#onLanes(lanes, 1, () => ({ kind: 'ready', start }))
    this.#stored = { blocks: null, count: 1, files: [] }
    return { pastCache: false }
  }

  async walk({ nonce, lanes, stride }: WalkTask): Promise<void> {
    if (this.#walking || !this.#stored || !within(stride, MAX_STRIDE)) throw refused('a walk out of turn')
    if (!within(lanes, this.#threads.length)) throw refused('more lanes than it had announced')
    const { blocks, count } = this.#stored
    this.#halt(0)
    const job = (lane: number): LaneJob =>
      blocks === null
        ? { kind: 'lookups', nonce, lane, stride }
        : { kind: 'walk', blocks, start: laneStart(nonce, lane), stride }
    this.#walking = this.#onLanes(lanes, count, job)
    // Who halts hears of it.
    this.#walking.catch(() => {})
  }

  async halt(): Promise<readonly Uint8Array[]> {
    if (!this.#walking) throw refused('a halt without a walk')
    this.#halt(1)
    const walked = await this.#walking.finally(() => {
      this.#walking = null
    })
    return walked.map((marks) => marks ?? new Uint8Array(0))
  }

  async close(): Promise<void> {
    this.#halt(1)
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()))
    await this.#forget()
  }

  #halt(value: 0 | 1): void {
    Atomics.store(new Int32Array(this.#stop), 0, value)
  }

  async #forget(): Promise<void> {
    const stored = this.#stored
    this.#stored = null
    if (stored) await closeAll(stored)
  }

  async #onLanes(
    lanes: number,
    count: number,
    job: (lane: number) => LaneJob,
  ): Promise<readonly (Uint8Array | null)[]> {
    const ask = async (thread: LaneThread, lane: number) => {
      const question: LaneMessage = { job: job(lane), count, lanes, stop: this.#stop }
      const { marks, error } = await thread.ask(question).catch((lost: Error) => ({ marks: null, error: lost.message }))
      if (error !== null) throw fault('HOST_LANE_FAILED', { what: error })
      return marks
    }
    return await Promise.all(this.#threads.slice(0, lanes).map(ask))
  }
}

const closeAll = ({ files }: Pick<Stored, 'files'>) => Promise.all(files.map((file) => file.close()))

const within = (value: number, most: number): boolean => Number.isInteger(value) && value >= 1 && value <= most

function inMemory(count: number): Stored & { readonly blocks: Blocks } {
  const bytes = count * HOST_BLOCK_BYTES
  const free = Math.min(freemem(), process.availableMemory())
  if (bytes > free / 2) throw noRoom(`${bytes} bytes of memory; ${free} are free`)
  const perBuffer = BUFFER_BYTES / HOST_BLOCK_BYTES
  const buffers = Array.from(
    { length: Math.ceil(count / perBuffer) },
    (_, i) => new SharedArrayBuffer(Math.min(perBuffer, count - i * perBuffer) * HOST_BLOCK_BYTES),
  )
  return { blocks: { buffers, perBuffer }, count, files: [] }
}

async function onDisk(folder: string, count: number): Promise<Stored & { readonly blocks: Blocks }> {
  const { bsize, bavail } = await statfs(folder)
  const bytes = count * HOST_BLOCK_BYTES
  if (bytes > (bsize * bavail) / 10) throw noRoom(`${bytes} bytes of disk; ${bsize * bavail} are free`)
  const { file, direct } = await openNamelessFile(folder)
  const files = direct === null ? [file] : [file, direct]
  return { blocks: { writeFd: file.fd, readFd: (direct ?? file).fd }, count, files }
}

const refused = (what: string) => fault('HOST_ORDER_REFUSED', { what })

const noRoom = (what: string) => fault('HOST_NO_ROOM', { what })
