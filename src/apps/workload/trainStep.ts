import type { Tensor } from '../../ports/tensorDevice.ts'
import type { Activations } from './activations.ts'
import { backward } from './backward.ts'
import { forward } from './forward.ts'
import type { Trainee } from './replica.ts'

/** Words and the words that follow them, `sequences * tokens` each. */
export interface Batch {
  readonly words: Int32Array
  readonly targets: Int32Array
}

export interface Member {
  readonly trainee: Trainee
  readonly activations: Activations
}

export interface StepOptions {
  /** 1 for the first. */
  readonly step: number
  readonly rate: number
  /** On the first device, as long as all parameters; only with more than one. */
  readonly scratch: Tensor | null
}

/** One step on all devices at once, each with its own batch: the mean loss before the step. */
export async function trainStep(
  members: readonly Member[],
  batches: readonly Batch[],
  options: StepOptions,
): Promise<number> {
  members.forEach(({ trainee, activations }, index) => {
    trainee.device.writeWords(activations.words, batches[index]!.words)
    trainee.device.writeWords(activations.targets, batches[index]!.targets)
    forward(trainee, activations)
    backward(trainee, activations)
  })
  if (members.length > 1) shareGradients(members, options.scratch!)
  for (const { trainee } of members) {
    const { device, weights, gradients, first, second } = trainee
    const { step, rate } = options
    const gradientScale = 1 / members.length
    device.adam({ parameters: weights.all, gradients: gradients.all, first, second, step, rate, gradientScale })
  }
  const losses = await Promise.all(
    members.map(async ({ trainee, activations }) => mean(await trainee.device.read(activations.losses))),
  )
  await Promise.all(members.map(({ trainee }) => trainee.device.settle()))
  return mean(losses)
}

/** Every device ends with the sum of all gradients; the first one adds them up. */
function shareGradients(members: readonly Member[], scratch: Tensor): void {
  const [first, ...others] = members.map(({ trainee }) => trainee)
  for (const { gradients } of others) {
    first!.device.copy(scratch, gradients.all)
    first!.device.add(first!.gradients.all, scratch)
  }
  for (const { device, gradients } of others) device.copy(gradients.all, first!.gradients.all)
}

const mean = (values: ArrayLike<number>): number => {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]!
  return sum / values.length
}
