import { trainingFlop } from '../../core/workload/modelFlop.ts'
import type { ReadableFile } from '../../ports/fileAccess.ts'
import { createActivations } from './activations.ts'
import { endTraining, prepareTraining, type Replica } from './replica.ts'
import type { WorkloadDeps, WorkloadOptions } from './runWorkload.ts'
import { textBatches } from './textBatches.ts'
import { type Member, trainStep } from './trainStep.ts'

export interface TrainingFigures {
  readonly steps: number
  readonly epochs: number
  /** Mean loss of each epoch, in nats per byte. */
  readonly epochLosses: readonly number[]
  readonly firstLoss: number
  readonly lastLoss: number
  /** Without the first step, which also loads and plans. Reading the text is part of it. */
  readonly tokensPerSec: number
  readonly flopPerSec: number
}

/** Trains all replicas together; they hold the same model before and after. */
export async function trainModel(
  replicas: readonly Replica[],
  text: ReadableFile,
  options: WorkloadOptions,
  { clock, onProgress }: WorkloadDeps,
  signal: AbortSignal,
): Promise<TrainingFigures> {
  const { shape, sequences, tokens, epochs, seed, rate, maxSteps } = options
  const members = replicas.map((replica): Member => {
    const activations = createActivations(replica.device, shape, sequences, tokens)
    return { trainee: prepareTraining(replica), activations }
  })
  const [first] = replicas
  const scratch = replicas.length > 1 ? first!.device.allocate(first!.layout.length) : null
  const losses: { readonly epoch: number; readonly loss: number }[] = []
  let timedUs = 0
  try {
    for await (const { epoch, batches } of textBatches(text, {
      sequences,
      tokens,
      devices: replicas.length,
      epochs,
      seed,
    })) {
      signal.throwIfAborted()
      const step = losses.length + 1
      const began = clock.monotonicUs()
      const loss = await trainStep(members, batches, { step, rate, scratch })
      if (step > 1) timedUs += clock.monotonicUs() - began
      losses.push({ epoch, loss })
      onProgress?.({ step, epoch, loss })
      if (step >= maxSteps) break
    }
  } finally {
    for (const { trainee, activations } of members) {
      activations.free()
      endTraining(trainee)
    }
    if (scratch) first!.device.free(scratch)
  }
  const perSecond = (amount: number) => (timedUs > 0 ? (amount * (losses.length - 1) * 1e6) / timedUs : 0)
  const last = losses.at(-1)!
  return {
    steps: losses.length,
    epochs: last.epoch + 1,
    epochLosses: Array.from({ length: last.epoch + 1 }, (_, epoch) =>
      mean(losses.filter((one) => one.epoch === epoch).map(({ loss }) => loss)),
    ),
    firstLoss: losses[0]!.loss,
    lastLoss: last.loss,
    tokensPerSec: perSecond(replicas.length * sequences * tokens),
    flopPerSec: perSecond(replicas.length * trainingFlop(shape, sequences, tokens)),
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
