import { forwardFlop } from '../../core/workload/modelFlop.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ReadableFile } from '../../ports/fileAccess.ts'
import { Inference, likeliest } from './inference.ts'
import type { Replica } from './replica.ts'

export interface InferenceOptions {
  readonly sequences: number
  readonly promptTokens: number
  readonly newTokens: number
}

/** All devices together, each with sequences of its own. */
export interface InferenceFigures extends InferenceOptions {
  readonly prefillTokensPerSec: number
  readonly prefillFlopPerSec: number
  readonly decodeTokensPerSec: number
  readonly decodeFlopPerSec: number
  /** What the first sequence of the first device was continued with. */
  readonly sample: readonly number[]
}

/** Reads prompts from the text, then lets the model go on, greedily, one token at a time. */
export async function measureInference(
  replicas: readonly Replica[],
  text: ReadableFile,
  options: InferenceOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<InferenceFigures> {
  const { sequences, promptTokens, newTokens } = options
  const prompts = await readPrompts(text, replicas.length * sequences, promptTokens)
  const promptOf = (index: number) =>
    prompts.slice(index * sequences * promptTokens, (index + 1) * sequences * promptTokens)
  // The first round loads and plans, the second is timed.
  await generate(replicas, promptOf, { ...options, newTokens: Math.min(2, newTokens) }, clock, signal)
  const { prefillUs, decodeUs, sample } = await generate(replicas, promptOf, options, clock, signal)
  const { shape } = replicas[0]!
  const count = replicas.length * sequences
  return {
    ...options,
    prefillTokensPerSec: (count * promptTokens * 1e6) / prefillUs,
    prefillFlopPerSec: (count * forwardFlop(shape, 0, promptTokens) * 1e6) / prefillUs,
    decodeTokensPerSec: (count * newTokens * 1e6) / decodeUs,
    decodeFlopPerSec: (count * forwardFlop(shape, promptTokens, newTokens) * 1e6) / decodeUs,
    sample,
  }
}

async function readPrompts(text: ReadableFile, count: number, tokens: number): Promise<Int32Array> {
  const words = new Int32Array(count * tokens)
  const places = Math.max(1, text.length - tokens + 1)
  for (let index = 0; index < count; index++) {
    const bytes = await text.read(Math.floor((index * places) / count), Math.min(tokens, text.length))
    words.set(bytes, index * tokens)
  }
  return words
}

async function generate(
  replicas: readonly Replica[],
  promptOf: (index: number) => Int32Array,
  { sequences, promptTokens, newTokens }: InferenceOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ prefillUs: number; decodeUs: number; sample: number[] }> {
  const running = replicas.map((replica) => new Inference(replica, sequences))
  const { vocabulary } = replicas[0]!.shape
  try {
    const began = clock.monotonicUs()
    const extend = (words: (index: number) => Int32Array, tokens: number) =>
      Promise.all(running.map(async (one, index) => likeliest(await one.extend(words(index), tokens), vocabulary)))
    let next = await extend(promptOf, promptTokens)
    const prefilled = clock.monotonicUs()
    const sample: number[] = []
    for (let token = 0; token < newTokens; token++) {
      signal.throwIfAborted()
      sample.push(next[0]![0]!)
      const words = next
      next = await extend((index) => words[index]!, 1)
    }
    return { prefillUs: prefilled - began, decodeUs: Math.max(clock.monotonicUs() - prefilled, 1), sample }
  } finally {
    for (const one of running) one.free()
  }
}
