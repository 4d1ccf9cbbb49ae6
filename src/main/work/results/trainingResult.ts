import { fromBase64 } from '../../../core/bytes/base64.ts'
import { equalBytes } from '../../../core/bytes/bytes.ts'
import { splitRoots } from '../../../core/work/checkSegment.ts'
import { isCommittedState } from '../../../core/work/committedState.ts'
import { training } from '../../../core/work/kinds/training/training.ts'
import { decodeSafetensors, safetensorsMetadata, storedTensors } from '../../../drivers/workFiles/safetensorsFile.ts'
import { fault } from '../../faults.ts'
import { readInput } from '../readInput.ts'
import type { GivenResult, ResultRule } from './resultRule.ts'
import { DONE, dimsOf, encodeDone, isMoment, MOMENT_ROOTS } from './trainedFile.ts'

const HASH_BYTES = 32

/** Weights, with the roots of their moments in the file's own words; or a whole state. */
export const trainingResult: ResultRule = {
  problem({ path, work, receipt, hasher, states }) {
    const file = readInput(path)
    const held = decodeSafetensors(file)
    const isState = held.has(DONE)
    const wanted = [...work.state.keys()].filter((name) => isState || !isMoment(name))
    const missing = wanted.find((name) => !held.has(name))
    if (missing !== undefined) return `${missing} is not in it as numbers of f32`
    const stored = storedTensors(file)
    const more = stored.find(({ name }) => !wanted.includes(name) && !(isState && name === DONE))
    if (more !== undefined) return `it holds ${more.name}, which is no part of the model`
    const sizesOf = (name: string) => (name === DONE ? '1' : dimsOf(work.state.get(name)!).join(' by '))
    const turned = stored.find(({ name, dims }) => dims.join(' by ') !== sizesOf(name))
    if (turned !== undefined) return `${turned.name} is not ${sizesOf(turned.name)} in it`
    const steps = stepsOf(work)
    if (isState && !equalBytes(held.get(DONE)!, encodeDone(steps)))
      return `it says that other than ${steps} steps made it`
    const tensors = new Map(wanted.map((name) => [name, held.get(name)!]))
    const last = states()
    if (last) {
      const other = wanted.find((name) => !equalBytes(tensors.get(name)!, last.get(name)!))
      return other === undefined ? null : `${other} has other numbers`
    }
    const beside = isState ? [] : rootsIn(file)
    const end = work.ends.length - 1
    const isSame = isCommittedState(work, end, receipt.marks[end]!.root, tensors, hasher, beside)
    return isSame ? null : 'its numbers are others, or the roots beside them'
  },
}

/** Steps that made the last state, those before this work with it. */
function stepsOf({ spec }: GivenResult['work']): number {
  const { done = 0 } = training.parameters.parse(spec.parameters) as { done?: number }
  return done + spec.transitions
}

/** What another program saved has lost them, and shows nothing by itself. */
function rootsIn(file: Uint8Array): readonly Uint8Array[] {
  const text = safetensorsMetadata(file, MOMENT_ROOTS)
  const bytes = text === null ? null : fromBase64(text)
  if (!bytes || bytes.length % HASH_BYTES !== 0)
    throw fault('RESULT_NOT_TIED', {
      why: 'the file lacks the roots of the moments, which "work run train" writes into it',
      how: 'Name the file as it was written, one of --state, or add --replay FOLDER.',
    })
  return splitRoots(bytes)
}
