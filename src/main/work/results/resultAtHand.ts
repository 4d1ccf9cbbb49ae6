import { DecodeError } from '../../../core/bytes/reader.ts'
import type { ReadReceipt } from '../../../core/certificate/receiptEvidence.ts'
import { isCommittedState, stateShapes } from '../../../core/work/committedState.ts'
import { type TensorShape, tensorBytes } from '../../../core/work/tensor.ts'
import type { Work } from '../../../core/work/work.ts'
import { hasherOn } from '../../../core/work/workEngine.ts'
import type { WorkKernels } from '../../../core/work/workKernels.ts'
import { openExactEngine } from '../../../drivers/gpu/cpu/work/openCpuWork.ts'
import type { Tensors } from '../../../ports/workDevice.ts'
import { fault } from '../../faults.ts'
import { joinStates, readStates, type SeeState } from '../inputFiles.ts'
import { inferenceResult } from './inferenceResult.ts'
import { matmulResult } from './matmulResult.ts'
import { renderingResult, simulationResult } from './pictureResults.ts'
import type { GivenResult, ResultRule } from './resultRule.ts'
import { trainingResult } from './trainingResult.ts'

const RULES: Readonly<Record<string, (path: string) => ResultRule>> = {
  matmul: () => matmulResult,
  training: () => trainingResult,
  inference: () => inferenceResult,
  simulation: simulationResult,
  rendering: () => renderingResult,
}

export interface ResultFlags {
  readonly tokenizer?: string
  readonly inputs?: string
}

/** A file of the result as a reader has it. */
export interface ResultAtHand {
  /** Sees the states that a replay makes. */
  readonly see: SeeState
  /** W4.7. Why it is not what the receipt commits to; null where it is. Throws where that cannot be told. */
  problemWith(read: ReadReceipt): Promise<string | null>
}

/** What `--result` names, ready to be held against a receipt. */
export function resultAtHand(result: string, { tokenizer, inputs }: ResultFlags): ResultAtHand {
  let rule: ResultRule | null = null
  const ruleOf = ({ spec }: Work<WorkKernels>): ResultRule => {
    if (!Object.hasOwn(RULES, spec.kind))
      throw fault('RESULT_NOT_TIED', {
        why: `nothing is known of results of ${spec.kind}`,
        how: 'Leave --result out.',
      })
    rule ??= RULES[spec.kind]!(result)
    return rule
  }
  const seen: Tensors[] = []
  return {
    see(work, segment, read) {
      ruleOf(work).see?.(work, segment, read)
      const isKept = work.isIndependent || segment === work.ends.length - 1
      if (isKept) seen.push(new Map([...work.state.keys()].map((name) => [name, read(name)])))
    },
    async problemWith(read) {
      const hasher = hasherOn(await openExactEngine())
      const kept = () => (inputs === undefined ? null : statesIn(inputs, read, hasher))
      const states = () => (seen.length > 0 ? joinStates(seen) : kept())
      const given: GivenResult = { ...read, path: result, hasher, tokenizer: tokenizer ?? null, states }
      try {
        return await ruleOf(read.work).problem(given)
      } catch (error) {
        if (error instanceof DecodeError) return error.message
        throw error
      }
    },
  }
}

/** The states that lie beside the inputs, if they do; they must be the committed ones. */
function statesIn(folder: string, { work, receipt }: ReadReceipt, hasher: GivenResult['hasher']): Tensors | null {
  const segments = work.isIndependent ? [...work.ends.keys()] : [work.ends.length - 1]
  const shapes = segments.map((segment) => stateShapes(work, segment))
  const bytesOf = (name: string) => shapes.reduce((sum, shape) => sum + tensorBytes(shape.get(name)!), 0)
  const all = readStates(folder, new Map([...work.state.keys()].map((name) => [name, bytesOf(name)])))
  if (!all) return null
  const used = new Map<string, number>()
  const take = (name: string, shape: TensorShape) => {
    const at = used.get(name) ?? 0
    used.set(name, at + tensorBytes(shape))
    return all.get(name)!.subarray(at, at + tensorBytes(shape))
  }
  for (const [i, segment] of segments.entries()) {
    const state = new Map([...shapes[i]!].map(([name, shape]) => [name, take(name, shape)]))
    if (!isCommittedState(work, segment, receipt.marks[segment]!.root, state, hasher))
      throw fault('RESULT_NOT_TIED', {
        why: `what lies in ${folder} as result.*.bin is not the state that the receipt commits to`,
        how: 'Hand in the folder of that very run, or --replay FOLDER.',
      })
  }
  return all
}
