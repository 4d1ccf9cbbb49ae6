import type { ModelShape } from '../../core/workload/modelShape.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ReadableFile, WritableFile } from '../../ports/fileAccess.ts'
import type { TensorDevice } from '../../ports/tensorDevice.ts'
import { fault } from '../shared/faults.ts'
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts'
import { measureBare } from './measureBare.ts'
import { type InferenceFigures, type InferenceOptions, measureInference } from './measureInference.ts'
import { createReplica } from './replica.ts'
import { type TrainingFigures, trainModel } from './trainModel.ts'

export interface WorkloadOptions {
  readonly shape: ModelShape
  /** Per device and step. */
  readonly sequences: number
  /** Per sequence. */
  readonly tokens: number
  readonly epochs: number
  /** Ends training early; Infinity lets the epochs decide. */
  readonly maxSteps: number
  readonly rate: number
  readonly seed: number
  readonly inference: InferenceOptions
  /** Side and seconds of the bare product that utilisation is measured against. */
  readonly bareSize: number
  readonly bareSeconds: number
}

export interface WorkloadDeps {
  /** All of one kind; each holds a whole model. */
  readonly devices: readonly TensorDevice[]
  readonly clock: Clock
  /** Training text and prompts, as bytes. */
  readonly text: ReadableFile
  /** What is fine-tuned. */
  readonly checkpoint: ReadableFile
  /** Where the tuned model goes, if anywhere. */
  readonly tuned?: WritableFile
  onProgress?(progress: { readonly step: number; readonly epoch: number; readonly loss: number }): void
}

/** Figures of a run somebody watched on a machine they trust: measured, never proven. */
export interface WorkloadReport {
  readonly proven: false
  readonly devices: readonly string[]
  readonly operands: TensorDevice['operands']
  readonly shape: ModelShape
  readonly parameters: number
  readonly bareOpsPerSec: number
  readonly training: TrainingFigures
  readonly inference: InferenceFigures
  /** Model operations per second over the bare product's: 1 would be a model made of nothing but large products. */
  readonly utilisation: { readonly training: number; readonly prefill: number; readonly decode: number }
}

/** A real model at work: read a checkpoint, tune it over several epochs on all devices, save it, and let it write. */
export async function runWorkload(
  options: WorkloadOptions,
  deps: WorkloadDeps,
  signal: AbortSignal,
): Promise<WorkloadReport> {
  const { shape } = options
  const { devices, clock, text, checkpoint, tuned } = deps
  checkOptions(options)
  const bareOpsPerSec = await measureBare(devices, options.bareSize, options.bareSeconds, clock)
  const replicas = devices.map((device) => createReplica(device, shape))
  try {
    await readCheckpoint(checkpoint, replicas, signal)
    const training = await trainModel(replicas, text, options, deps, signal)
    if (tuned) await writeCheckpoint(replicas[0]!, tuned)
    const inference = await measureInference(replicas, text, options.inference, clock, signal)
    return {
      proven: false,
      devices: devices.map(({ name }) => name),
      operands: devices[0]!.operands,
      shape,
      parameters: replicas[0]!.layout.parameters.reduce((sum, { length }) => sum + length, 0),
      bareOpsPerSec,
      training,
      inference,
      utilisation: {
        training: training.flopPerSec / bareOpsPerSec,
        prefill: inference.prefillFlopPerSec / bareOpsPerSec,
        decode: inference.decodeFlopPerSec / bareOpsPerSec,
      },
    }
  } finally {
    for (const { device, weights } of replicas) device.free(weights.all)
  }
}

function checkOptions({ shape, tokens, inference }: WorkloadOptions): void {
  const { width, heads, context } = shape
  const { promptTokens, newTokens } = inference
  const why =
    width % heads !== 0
      ? `a width of ${width} does not divide into ${heads} heads`
      : tokens > context
        ? `${tokens} tokens are more than the context of ${context}`
        : promptTokens + newTokens > context
          ? `${promptTokens} + ${newTokens} tokens are more than the context of ${context}`
          : null
  if (why === null) return
  throw fault('BAD_WORKLOAD', { why })
}
