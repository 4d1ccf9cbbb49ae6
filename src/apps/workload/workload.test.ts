import { Buffer } from 'node:buffer'
import { describe, expect, test } from 'vitest'
import { noise, noisyTrainee } from '../../../test/support/tensorTrials.ts'
import { MODEL_SHAPES, type ModelShape } from '../../core/workload/modelShape.ts'
import { openCpuTensors } from '../../drivers/gpu/cpu/workload/openCpuTensors.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import type { ReadableFile, WritableFile } from '../../ports/fileAccess.ts'
import { createActivations } from './activations.ts'
import { backward } from './backward.ts'
import { readCheckpoint, writeCheckpoint, writeFreshCheckpoint } from './checkpoint.ts'
import { forward } from './forward.ts'
import { Inference, likeliest } from './inference.ts'
import { createReplica } from './replica.ts'
import { runWorkload, type WorkloadOptions } from './runWorkload.ts'
import { textBatches } from './textBatches.ts'
import { type Member, trainStep } from './trainStep.ts'

/** Smaller than any model of ours: ASCII only, half as wide as `tiny`. */
const shape: ModelShape = { ...MODEL_SHAPES.tiny, vocabulary: 128, width: 16 }
const never = new AbortController().signal

/** A file in memory. */
function memoryFile(bytes = new Uint8Array()): ReadableFile & WritableFile & { bytes(): Uint8Array } {
  let content = bytes
  return {
    get length() {
      return content.length
    },
    read: async (offset, length) => content.slice(offset, offset + length),
    append: async (more) => {
      const longer = new Uint8Array(content.length + more.length)
      longer.set(content)
      longer.set(more, content.length)
      content = longer
    },
    commit: async () => {},
    close: async () => {},
    bytes: () => content,
  }
}

const toyText = memoryFile(new TextEncoder().encode('the quick brown fox jumps over the lazy dog. '.repeat(20)))

async function freshCheckpoint() {
  const file = memoryFile()
  await writeFreshCheckpoint(shape, 1, file)
  return file
}

const options: WorkloadOptions = {
  shape,
  sequences: 2,
  tokens: 32,
  epochs: 3,
  maxSteps: Number.POSITIVE_INFINITY,
  rate: 5e-3,
  seed: 1,
  inference: { sequences: 2, promptTokens: 16, newTokens: 8 },
  bareSize: 32,
  bareSeconds: 0,
}

describe('the way back', () => {
  test('gradients of every parameter are those of finite differences', async () => {
    const device = openCpuTensors({ operands: 'f64' })
    const trainee = noisyTrainee(device, shape)
    const made = createActivations(device, shape, 2, 8)
    device.writeWords(
      made.words,
      Int32Array.from({ length: 16 }, (_, i) => (i * 31) % 128),
    )
    device.writeWords(
      made.targets,
      Int32Array.from({ length: 16 }, (_, i) => (i * 17) % 128),
    )
    const values = (tensor: unknown) => (tensor as { values: Float64Array }).values
    const loss = () => {
      forward(trainee, made)
      return values(made.losses).reduce((sum, one) => sum + one, 0) / 16
    }
    loss()
    backward(trainee, made)
    const all = values(trainee.weights.all)
    const gradients = values(trainee.gradients.all)
    for (const { name, offset, length } of trainee.layout.parameters) {
      const direction = noise(length, offset)
      const move = (by: number) =>
        direction.forEach((value, i) => {
          all[offset + i]! += by * value
        })
      const step = 1e-5
      move(step)
      const above = loss()
      move(-2 * step)
      const below = loss()
      move(step)
      const expected = (above - below) / (2 * step)
      const got = direction.reduce((sum, value, i) => sum + value * gradients[offset + i]!, 0)
      expect(Math.abs(got - expected), name).toBeLessThan(1e-6 * Math.max(1, Math.abs(expected)))
    }
  })
})

describe('training', () => {
  const members = (devices: number, sequences: number): Member[] =>
    Array.from({ length: devices }, () => {
      const trainee = noisyTrainee(openCpuTensors(), shape)
      return { trainee, activations: createActivations(trainee.device, shape, sequences, 16) }
    })

  test('two devices with half the batch each learn what one learns with all of it', async () => {
    const [one, two] = [members(1, 4), members(2, 2)]
    const scratch = two[0]!.trainee.device.allocate(two[0]!.trainee.layout.length)
    const words = (from: number, count: number) =>
      Int32Array.from({ length: count * 16 }, (_, i) => ((from + i) * 7) % 128)
    const whole = [{ words: words(0, 4), targets: words(1, 4) }]
    const halves = [
      { words: words(0, 2), targets: words(1, 2) },
      { words: words(32, 2), targets: words(33, 2) },
    ]
    for (let step = 1; step <= 2; step++) {
      const got = await trainStep(two, halves, { step, rate: 1e-3, scratch })
      expect(got).toBeCloseTo(await trainStep(one, whole, { step, rate: 1e-3, scratch: null }), 5)
    }
    const [a, b] = await Promise.all(two.map(({ trainee }) => trainee.device.read(trainee.weights.all)))
    expect(a).toEqual(b)
  })

  test('a text is read whole, window by window, each once an epoch', async () => {
    const text = memoryFile(Uint8Array.from({ length: 8 * 10 + 1 }, (_, i) => i))
    const seen: number[][] = [[], []]
    for await (const { epoch, batches } of textBatches(text, {
      sequences: 2,
      tokens: 10,
      devices: 2,
      epochs: 2,
      seed: 4,
    }))
      for (const { words, targets } of batches)
        for (let at = 0; at < words.length; at += 10) {
          seen[epoch]!.push(words[at]!)
          expect([...targets.slice(at, at + 10)]).toEqual([...words.slice(at, at + 10)].map((word) => word + 1))
        }
    expect(seen.map((list) => [...list].sort((a, b) => a - b))).toEqual(
      [0, 1].map(() => [0, 10, 20, 30, 40, 50, 60, 70]),
    )
    expect(seen[0]).not.toEqual(seen[1])
  })
})

describe('inference', () => {
  test('token by token gives the same logits as the whole prompt at once, and as training sees', async () => {
    const trainee = noisyTrainee(openCpuTensors({ operands: 'f64' }), shape)
    const { device } = trainee
    const words = Int32Array.from({ length: 24 }, (_, i) => (i * 29) % 128)
    const perSequence = (from: number, to: number) =>
      Int32Array.from([...words.slice(from, to), ...words.slice(12 + from, 12 + to)])
    const atOnce = await new Inference(trainee, 2).extend(words, 12)
    const stepwise = new Inference(trainee, 2)
    let logits = await stepwise.extend(perSequence(0, 5), 5)
    for (let token = 5; token < 12; token++) logits = await stepwise.extend(perSequence(token, token + 1), 1)
    expect(stepwise.position).toBe(12)
    atOnce.forEach((value, index) => {
      expect(logits[index]).toBeCloseTo(value, 6)
    })
    const made = createActivations(device, shape, 2, 12)
    device.writeWords(made.words, words)
    device.writeWords(made.targets, new Int32Array(24).fill(likeliest(atOnce, 128)[0]!))
    forward(trainee, made)
    const most = Math.max(...atOnce.slice(0, 128))
    const sum = atOnce.slice(0, 128).reduce((total, value) => total + Math.exp(value - most), 0)
    expect((await device.read(made.losses))[11]).toBeCloseTo(Math.log(sum), 5)
  })
})

describe('checkpoints', () => {
  test('written and read again, a model is the same', async () => {
    const replica = createReplica(openCpuTensors(), shape)
    const file = await freshCheckpoint()
    await readCheckpoint(file, [replica], never)
    const copy = memoryFile()
    await writeCheckpoint(replica, copy)
    expect(Buffer.compare(copy.bytes(), file.bytes())).toBe(0)
  })

  test('another model is refused by the name of the first tensor that differs', async () => {
    const replica = createReplica(openCpuTensors(), { ...shape, context: 64 })
    await expect(readCheckpoint(await freshCheckpoint(), [replica], never)).rejects.toMatchObject({
      detail: { code: 'WRONG_CHECKPOINT', name: 'positions.weight', expected: '64x16', got: '32x16' },
    })
  })
})

describe('a file that is no checkpoint', () => {
  test.each([
    ['empty', new Uint8Array()],
    ['a text', new TextEncoder().encode('once upon a time, in a land far away')],
    ['cut off in its header', Uint8Array.of(200, 0, 0, 0, 0, 0, 0, 0, 0x7b)],
  ])('%s: refused with a next step', async (_name, bytes) => {
    const replica = createReplica(openCpuTensors(), shape)
    await expect(readCheckpoint(memoryFile(bytes), [replica], never)).rejects.toMatchObject({
      detail: { code: 'BAD_CHECKPOINT' },
    })
  })
})

describe('runWorkload', () => {
  test('tunes from a checkpoint until the toy text is learned, saves it, and says that nothing is proven', async () => {
    const tuned = memoryFile()
    const checkpoint = await freshCheckpoint()
    const deps = { devices: [openCpuTensors()], clock: systemClock, text: toyText, checkpoint, tuned }
    const report = await runWorkload(options, deps, never)
    expect(report.proven).toBe(false)
    expect(report.training).toMatchObject({ steps: 42, epochs: 3 })
    expect(report.training.firstLoss).toBeGreaterThan(4.5)
    expect(report.training.lastLoss).toBeLessThan(3)
    expect(report.training.tokensPerSec).toBeGreaterThan(0)
    expect(report.inference.sample).toHaveLength(8)
    expect(report.utilisation.training).toBeGreaterThan(0)
    expect(tuned.length).toBe(checkpoint.length)
    expect(Buffer.compare(tuned.bytes(), checkpoint.bytes())).not.toBe(0)
  })

  test('behavior: an aborted run stops between two steps', async () => {
    const stop = new AbortController()
    const onProgress = ({ step }: { step: number }) => step === 2 && stop.abort(new Error('enough'))
    const deps = { devices: [openCpuTensors()], clock: systemClock, text: toyText, checkpoint: await freshCheckpoint() }
    await expect(runWorkload(options, { ...deps, onProgress }, stop.signal)).rejects.toThrow('enough')
  })

  test.each([
    ['a text shorter than a step', { sequences: 1000 }, 'TEXT_TOO_SHORT'],
    ['more tokens than the context', { tokens: 33 }, 'BAD_WORKLOAD'],
    ['more to write than the context', { inference: { ...options.inference, newTokens: 17 } }, 'BAD_WORKLOAD'],
    ['heads that do not divide the width', { shape: { ...shape, heads: 5 } }, 'BAD_WORKLOAD'],
  ])('behavior: %s is refused', async (_name, changed, code) => {
    const deps = { devices: [openCpuTensors()], clock: systemClock, text: toyText, checkpoint: await freshCheckpoint() }
    await expect(runWorkload({ ...options, ...changed }, deps, never)).rejects.toMatchObject({ detail: { code } })
  })
})
