import { DecodeError } from '../../core/bytes/reader.ts'
import { freshParameter } from '../../core/workload/freshParameter.ts'
import type { ModelShape } from '../../core/workload/modelShape.ts'
import { type Parameter, parameterLayout } from '../../core/workload/parameterLayout.ts'
import { decodeHeader, encodeHeader, headerLength, type StoredTensor } from '../../core/workload/safetensors.ts'
import type { TouchstoneError } from '../../ports/errors.ts'
import type { ReadableFile, WritableFile } from '../../ports/fileAccess.ts'
import { fault } from '../shared/faults.ts'
import type { Replica } from './replica.ts'

const bytesOf = (values: Float32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength)

/** A model nobody has trained yet. */
export async function writeFreshCheckpoint(shape: ModelShape, seed: number, file: WritableFile): Promise<void> {
  const { parameters } = parameterLayout(shape)
  await file.append(encodeHeader(parameters))
  for (const parameter of parameters) await file.append(bytesOf(freshParameter(parameter, seed)))
  await file.commit()
}

export async function writeCheckpoint({ device, layout, weights }: Replica, file: WritableFile): Promise<void> {
  await file.append(encodeHeader(layout.parameters))
  for (const { offset, length } of layout.parameters)
    await file.append(bytesOf(await device.read(device.view(weights.all, offset, length))))
  await file.commit()
}

/** Fills every replica; one tensor at a time is held here. */
export async function readCheckpoint(
  file: ReadableFile,
  replicas: readonly Replica[],
  signal: AbortSignal,
): Promise<void> {
  const { dataAt, stored } = await readHeader(file)
  for (const parameter of replicas[0]!.layout.parameters) {
    signal.throwIfAborted()
    const found = stored.get(parameter.name)
    if (found === undefined || !sameDims(found.dims, parameter.dims)) throw wrongModel(parameter, found?.dims)
    const bytes = await file.read(dataAt + found.from, found.to - found.from)
    const values = new Float32Array(bytes.slice().buffer)
    for (const { device, weights } of replicas)
      device.write(device.view(weights.all, parameter.offset, parameter.length), values)
  }
}

async function readHeader(file: ReadableFile): Promise<{ dataAt: number; stored: Map<string, StoredTensor> }> {
  try {
    const dataAt = headerLength(await file.read(0, Math.min(8, file.length)))
    if (dataAt > file.length) throw new DecodeError('checkpoint: shorter than its header')
    const tensors = decodeHeader(await file.read(0, dataAt), file.length)
    return { dataAt, stored: new Map(tensors.map((one) => [one.name, one])) }
  } catch (error) {
    throw error instanceof DecodeError ? fault('BAD_CHECKPOINT', { why: error.message }, error) : error
  }
}

const sameDims = (one: readonly number[], two: readonly number[]): boolean =>
  one.length === two.length && one.every((size, index) => size === two[index])

const wrongModel = ({ name, dims }: Parameter, got: readonly number[] | undefined): TouchstoneError =>
  fault('WRONG_CHECKPOINT', {
    name,
    expected: dims.join('x'),
    got: got?.join('x') ?? 'nothing',
    has: got?.join('x') ?? 'no such tensor',
  })
