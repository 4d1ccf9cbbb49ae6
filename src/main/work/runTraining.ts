import { toBase64 } from '../../core/bytes/base64.ts'
import { joinBytes } from '../../core/bytes/bytes.ts'
import type { Work } from '../../core/work/work.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { writeAside } from '../../drivers/system/writeAside.ts'
import { encodeSafetensors } from '../../drivers/workFiles/safetensorsFile.ts'
import type { Tensors } from '../../ports/workDevice.ts'
import { fault } from '../faults.ts'
import type { CommandContext } from '../run.ts'
import { readInput } from './readInput.ts'
import { DONE, dimsOf, encodeDone, isMoment, MOMENT_ROOTS } from './results/trainedFile.ts'
import { type RunFlags, runWork } from './runWork.ts'
import { digitsWork, startIn, type TrainFlags, trainWork } from './trainWork.ts'

export interface TrainingFlags extends RunFlags, TrainFlags {
  /** Weights, or a state, to begin with. */
  readonly from?: string
  /** Where the whole state goes, to go on from another time. */
  readonly state?: string
}

/** A model that learns a file, or drawn digits. */
export async function runTraining(
  name: string | undefined,
  flags: TrainingFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  if (flags.family === 'mlp' && name !== undefined)
    throw fault('BAD_WORK_INPUT', { why: `an MLP learns drawn digits, and nothing of ${name}` })
  const start = flags.from === undefined ? null : startIn(flags.from)
  const hasher = hasherOn(await openExactEngine())
  const prepared =
    flags.family === 'mlp' ? digitsWork(flags, hasher, start) : trainWork(textIn(name), flags, hasher, start)
  const done = (start?.done ?? 0) + flags.steps
  let state: Uint8Array | null = null
  return await runWork(prepared, flags, context, signal, {
    every: 0,
    onState: () => {},
    result(work, { tensors, roots }) {
      const all = tensorsOf(work, tensors)
      state = encodeSafetensors([...all, { name: DONE, dims: [1], bytes: encodeDone(done) }])
      // The roots of what the file leaves out: with them it can be held against the receipt by itself.
      const moments = roots.filter((_, i) => isMoment(all[i]!.name))
      const words = { format: 'pt', [MOMENT_ROOTS]: toBase64(joinBytes(moments)) }
      return encodeSafetensors(
        all.filter(({ name: tensor }) => !isMoment(tensor)),
        words,
      )
    },
    tied: ['--result', flags.out],
    beside: flags.state,
    read: name === undefined ? [] : [name],
    given: [name, flags.from].filter((file) => file !== undefined),
    end(isShown) {
      if (isShown && flags.state !== undefined && state) writeAside(flags.state, state)
    },
  })
}

const tensorsOf = ({ state }: Work<WorkKernels>, last: Tensors) =>
  [...state].map(([name, shape]) => ({ name, dims: dimsOf(shape), bytes: last.get(name)! }))

function textIn(name: string | undefined): Uint8Array {
  if (name === undefined) throw fault('BAD_WORK_INPUT', { why: 'a language model needs a file to learn' })
  return readInput(name)
}
