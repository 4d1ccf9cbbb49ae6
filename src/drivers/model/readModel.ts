import { DecodeError } from '../../core/bytes/reader.ts'
import {
  checkpointParts,
  type Described,
  describeModel,
  type Part,
} from '../../core/work/kinds/inference/checkpoint.ts'
import { modelTensors } from '../../core/work/kinds/inference/weights.ts'
import { tensorBytes } from '../../core/work/tensor.ts'
import type { ExactEngine } from '../../core/work/workEngine.ts'
import type { Tensors } from '../../ports/workDevice.ts'
import { CheckpointFiles, type FiledTensor, readModelJson } from './checkpointFiles.ts'
import { fault } from './faults.ts'
import { quantiseRows, transposed, widened } from './numbers.ts'

/** A model as people have it, read and quantised: everything a work names but its prompts. */
export interface ReadModel extends Described {
  readonly tensors: Tensors
}

/** More is not held in memory. */
const MOST_BYTES = 2 ** 36
const GPT2_PREFIX = 'transformer.'

/** W9.1.3. Reads a folder with config.json and safetensors. Shapes are compared before any number is read. */
export function readModel(folder: string, engine: ExactEngine): ReadModel {
  const described = describeFolder(folder)
  const bytes = [...modelTensors(described.model).values()].reduce((sum, shape) => sum + tensorBytes(shape), 0)
  if (bytes > MOST_BYTES) throw fault('MODEL_TOO_BIG', { bytes: `${bytes}`, most: `${MOST_BYTES}` })
  const files = new CheckpointFiles(folder)
  try {
    const parts = checkpointParts(described).map((part) => ({ part, found: sourcesOf(files, part) }))
    const tensors = new Map(parts.flatMap(({ part, found }) => readPart(files, engine, part, found)))
    const ordered = [...modelTensors(described.model).keys()].map((name) => [name, tensors.get(name)!] as const)
    return { ...described, tensors: new Map(ordered) }
  } finally {
    files.close()
  }
}

/** What config.json says of a model; no weights are read. */
export function describeFolder(folder: string): Described {
  const config = readModelJson(folder, 'config.json')
  try {
    return describeModel(config)
  } catch (error) {
    if (error instanceof DecodeError) throw fault('BAD_MODEL', { why: error.message }, error)
    throw error
  }
}

/** The tensors of the file that a part is made of; each is there, of numbers we read, and as large as the model says. */
function sourcesOf({ tensors }: CheckpointFiles, { sources }: Part): readonly FiledTensor[] {
  return sources.map(({ name, dims }) => {
    const found = tensors.get(name) ?? tensors.get(`${GPT2_PREFIX}${name}`)
    if (!found) throw fault('BAD_MODEL', { why: `${name} is missing` })
    if (found.dims.length !== dims.length || !found.dims.every((size, i) => size === dims[i]))
      throw fault('BAD_MODEL', { why: `${name} is ${found.dims.join(' by ')} where ${dims.join(' by ')} belongs` })
    if (found.type !== 'F32' && found.type !== 'F16' && found.type !== 'BF16')
      throw fault('BAD_MODEL', { why: `${name} is of ${found.type}` })
    return found
  })
}

/** So many numbers are widened and quantised at once. */
const BLOCK = 2 ** 24

function readPart(
  files: CheckpointFiles,
  engine: ExactEngine,
  { name, form, isTurned, sources }: Part,
  found: readonly FiledTensor[],
): readonly (readonly [string, Uint8Array])[] {
  const numbers = (at: number, first: number, count: number): Float32Array => {
    const tensor = found[at]!
    const size = tensor.type === 'F32' ? 4 : 2
    const read = widened(tensor.type, files.read(tensor, first * size, count * size))
    if (!read) throw fault('BAD_MODEL', { why: `${tensor.name} has a number that is infinite or none` })
    return read
  }
  const countOf = (at: number) => sources[at]!.dims.reduce((product, size) => product * size, 1)
  if (form === 'floats') return [[name, bytesOf(sources.map((_, at) => numbers(at, 0, countOf(at))))]]
  const rows: Uint8Array[] = []
  const scales: Uint8Array[] = []
  const take = (values: Float32Array, width: number) => {
    const made = quantiseRows(engine, values, width)
    rows.push(made.rows)
    scales.push(made.scales)
  }
  for (const [at, { dims }] of sources.entries()) {
    const [height, width] = dims as [number, number]
    if (isTurned) take(transposed(numbers(at, 0, height * width), height, width), height)
    else {
      const each = Math.max(1, Math.floor(BLOCK / width))
      for (let row = 0; row < height; row += each)
        take(numbers(at, row * width, Math.min(each, height - row) * width), width)
    }
  }
  return [
    [`${name}.weight`, Buffer.concat(rows)],
    [`${name}.scales`, Buffer.concat(scales)],
  ]
}

const bytesOf = (parts: readonly Float32Array[]): Uint8Array =>
  Buffer.concat(parts.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)))
