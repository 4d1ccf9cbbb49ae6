import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { WithInputs } from '../../core/certificate/receiptEvidence.ts'
import { EngineRun } from '../../core/work/engineRun.ts'
import { WORK_REFUSALS, WorkRefusal } from '../../core/work/refusals.ts'
import { replayWork } from '../../core/work/replayWork.ts'
import { tensorBytes } from '../../core/work/tensor.ts'
import { holdGiven, type Work } from '../../core/work/work.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { writeAside } from '../../drivers/system/writeAside.ts'
import type { Tensors } from '../../ports/workDevice.ts'
import { fault } from '../faults.ts'

const fileOf = (folder: string, name: string): string => join(folder, `${name}.bin`)

/** The inputs of a work as files, bytes as they lie. */
export function writeInputs(folder: string, given: Tensors): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, bytes] of given) writeAside(fileOf(folder, name), bytes)
}

/** Where they go. */
export const inputNames = (folder: string, given: Tensors): string[] =>
  [...given.keys()].map((name) => fileOf(folder, name))

/** Where a tensor of a committed state lies beside the inputs. */
const stateFile = (folder: string, name: string): string => fileOf(folder, `result.${name.replace('/', '.')}`)

/** States that do not build on each other as one: each tensor's rows one after the other. */
export const joinStates = (states: readonly Tensors[]): Tensors =>
  new Map([...(states[0]?.keys() ?? [])].map((name) => [name, Buffer.concat(states.map((state) => state.get(name)!))]))

/** What a result was made of, beside the inputs. */
export function writeStates(folder: string, states: Tensors): void {
  for (const [name, bytes] of states) writeAside(stateFile(folder, name), bytes)
}

/** The inputs of receipts from a folder; each must have the root that the receipt names. */
export const inputsIn = (folder: string): WithInputs => ({
  hold: async (work) => {
    const { root } = hasherOn(await openExactEngine())
    return orSayWhy(() => holdGiven(work, readInputs(folder, work), root))
  },
})

/** Sees a state as it is made again, whose root is the committed one; `read` gives its tensors. */
export type SeeState = (work: Work<WorkKernels>, segment: number, read: (name: string) => Uint8Array) => void

/** The same, and the works of receipts are run again on this machine. */
export const replaying = (
  folder: string,
  onSegment: (segment: number, of: number) => void,
  see: SeeState = () => {},
): WithInputs => ({
  ...inputsIn(folder),
  replay: async ({ work, receipt }) => {
    const [engine, hasher] = [await openExactEngine(), hasherOn(await openExactEngine())]
    return orSayWhy(() => {
      const run = new EngineRun(engine, work, readInputs(folder, work), hasher)
      let segments = 0
      try {
        return replayWork(work, receipt, run, (segment) => {
          segments = segment + 1
          onSegment(segment, work.ends.length)
          see(work, segment, (name) => run.read(name))
        })
      } catch (error) {
        // A work that has no result has no receipt either (W2.6.3): that is not what its inputs are to blame for.
        if (!(error instanceof WorkRefusal) || error.code !== 'FAULT') throw error
        return { problem: { code: 'REPLAY_DIFFERS', segment: segments }, segments }
      }
    })
  },
})

function orSayWhy<T>(attempt: () => T): T {
  try {
    return attempt()
  } catch (error) {
    if (!(error instanceof WorkRefusal)) throw error
    throw fault('BAD_WORK_INPUT', { why: `${WORK_REFUSALS[error.code].meaning} (${error.message})` })
  }
}

const readInputs = (folder: string, { given }: Work<WorkKernels>): Tensors =>
  new Map([...given].map(([name, shape]) => [name, readInput(fileOf(folder, name), tensorBytes(shape))]))

function readInput(file: string, bytes: number): Uint8Array {
  let content: Uint8Array | number
  try {
    content = readRegularFile(file, bytes)
  } catch {
    throw fault('BAD_WORK_INPUT', {
      why: `${file} cannot be read: name the folder that work run wrote for this receipt with --inputs`,
    })
  }
  if (typeof content === 'number' || content.length !== bytes)
    throw fault('BAD_WORK_INPUT', { why: `${file} does not have the ${bytes} bytes of this input` })
  return content
}

/** What `writeStates` wrote, each tensor of so many bytes; null where one is not there. */
export function readStates(folder: string, sizes: ReadonlyMap<string, number>): Tensors | null {
  const files = [...sizes].map(([name, bytes]) => ({ name, bytes, file: stateFile(folder, name) }))
  if (!files.every(({ file }) => existsSync(file))) return null
  return new Map(files.map(({ name, bytes, file }) => [name, readInput(file, bytes)]))
}
