import { readSync, writeSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { concatBytes } from '../../core/bytes/bytes.ts'
import { WASM_PAGE_BYTES, webAssembly } from '../../core/engine/webAssembly.ts'
import { HOST_BLOCK_BYTES, MAX_MARKS } from '../../core/params/hostParts.ts'
import { openRounds, type Rounds } from './hostRounds.ts'
import { hostBlock, hostStep, laneOfRounds, laneStart, nextBlock } from './hostWalk.ts'
import type { Blocks, LaneAnswer, LaneMessage } from './laneJobs.ts'

/** On Linux this is the priority of this thread alone: the cards' threads go first. */
try {
  setPriority(10)
} catch {
  // Not allowed here: the lanes run like everybody else.
}

/** Memory of WebAssembly begins on a page, which reading past the cache asks for. */
const page = new Uint8Array(new webAssembly.Memory({ initial: HOST_BLOCK_BYTES / WASM_PAGE_BYTES }).buffer)

function readBlock(blocks: Blocks, index: number): Uint8Array {
  if ('buffers' in blocks) return inMemory(blocks, index)
  const got = readSync(blocks.readFd, page, 0, HOST_BLOCK_BYTES, index * HOST_BLOCK_BYTES)
  if (got !== HOST_BLOCK_BYTES) throw new Error(`the disk gave ${got} bytes of a block`)
  return page
}

function writeBlock(blocks: Blocks, index: number, bytes: Uint8Array): void {
  if ('buffers' in blocks) inMemory(blocks, index).set(bytes)
  else if (writeSync(blocks.writeFd, bytes, 0, HOST_BLOCK_BYTES, index * HOST_BLOCK_BYTES) !== HOST_BLOCK_BYTES)
    throw new Error('the disk took only a part of a block')
}

const inMemory = ({ buffers, perBuffer }: Extract<Blocks, { buffers: unknown }>, index: number): Uint8Array =>
  new Uint8Array(buffers[Math.floor(index / perBuffer)]!, (index % perBuffer) * HOST_BLOCK_BYTES, HOST_BLOCK_BYTES)

let rounds: Rounds | null = null

/** One step further. */
type Step = (at: Uint8Array) => Uint8Array

function marksOf(start: Uint8Array, step: Step, stride: number, go: () => boolean): Uint8Array {
  const marks: Uint8Array[] = []
  let at = start
  for (let steps = 1; marks.length < MAX_MARKS && go(); steps++) {
    at = step(at)
    if (steps % stride === 0) marks.push(at)
  }
  return concatBytes(...marks)
}

async function obey({ job, count, lanes, stop }: LaneMessage): Promise<Uint8Array | null> {
  const stopped = new Int32Array(stop)
  const go = () => Atomics.load(stopped, 0) === 0
  switch (job.kind) {
    case 'fill':
      for (let index = job.from; index < count && go(); index += lanes)
        writeBlock(job.blocks, index, hostBlock(job.seed, index))
      return null
    case 'ready':
      rounds ??= await openRounds(job.start)
      return null
    case 'lookups': {
      const walk = laneOfRounds(rounds!, job.nonce, job.lane)
      return marksOf(laneStart(job.nonce, job.lane), (at) => walk(at, 1), job.stride, go)
    }
    case 'walk': {
      const step = (at: Uint8Array) => hostStep(at, job.start, readBlock(job.blocks, nextBlock(at, count)))
      return marksOf(job.start, step, job.stride, go)
    }
  }
}

const answer = (said: LaneAnswer) => parentPort!.postMessage(said)

parentPort!.on('message', async (message: LaneMessage) => {
  try {
    answer({ marks: await obey(message), error: null })
  } catch (error) {
    answer({ marks: null, error: error instanceof Error ? error.message : 'unknown' })
  }
})
