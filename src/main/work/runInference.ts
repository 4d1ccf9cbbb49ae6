import { WorkRejected } from '../../apps/work/proverLine.ts'
import type { WorkStep } from '../../apps/work/workListener.ts'
import { toBase64 } from '../../core/bytes/base64.ts'
import { joinBytes, words32 } from '../../core/bytes/bytes.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { readModel } from '../../drivers/model/readModel.ts'
import { readTokenizer, type TextCodec } from '../../drivers/model/readTokenizer.ts'
import { fault } from '../faults.ts'
import type { CommandContext } from '../run.ts'
import { areSaidTokens, completionsOf, type InferFlags, inferWork, upToStop } from './inferWork.ts'
import { readInput } from './readInput.ts'
import { type RunFlags, runWork } from './runWork.ts'

export interface InferenceFlags extends RunFlags, InferFlags {
  readonly model: string
  readonly prompt?: readonly string[]
  /** A file with a prompt on each line. */
  readonly prompts?: string
}

const MOST_PROMPTS = 1024

/** A model that goes on from prompts; one of them alone is told as it comes. */
export async function runInference(
  flags: InferenceFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const texts = promptsOf(flags)
  const model = readModel(flags.model, await openExactEngine())
  const codec = await readTokenizer(flags.model, model.model.vocabulary)
  const prepared = inferWork(model, texts.map(codec.encode), flags, hasherOn(await openExactEngine()))
  const { stops } = model
  const said = (last: Uint8Array) =>
    completionsOf(prepared, last, flags.tokens, stops).map(({ tokens, ...more }, i) => ({
      ...{ prompt: texts[i]!, text: codec.decode(tokens), tokens, ...more },
    }))
  const { lengths, shown } = prepared.parameters
  // Of replicas one may say anything, and be found out later.
  const isAlone = flags.replicas === 1 && (flags.on?.length ?? 1) === 1
  const isTold = lengths.length === 1 && shown > 0 && isAlone && !flags.json
  const teller = isTold ? new Teller(codec, stops, lengths[0]!, shown) : null
  if (teller) process.stdout.write(visible(texts[0]!))
  return await runWork(prepared, flags, context, signal, {
    every: 0,
    onState: () => {},
    ...(teller ? { onStep: (step: WorkStep) => teller.hear(step) } : {}),
    tied: ['--result', flags.out, '--tokenizer', flags.model],
    result: ({ ends }, { tensors, roots }, marks) => {
      const last = tensors.get('tokens')!
      if (!areSaidTokens(prepared.parameters, ends, words32(last), marks))
        throw new WorkRejected('OTHER_RESULT', 'it said other tokens on the way')
      const completions = said(last)
      if (teller) process.stdout.write(`${visible(teller.end(completions[0]!.text))}\n\n`)
      else if (!flags.json)
        for (const { prompt, text } of completions) process.stdout.write(`${visible(prompt + text)}\n\n`)
      // With the roots of the cache the file can be held against the receipt by itself.
      const told = { tokenizer: codec.hash, cacheRoots: toBase64(joinBytes(roots.slice(1))), completions }
      return new TextEncoder().encode(`${JSON.stringify(told, null, 2)}\n`)
    },
  })
}

function promptsOf({ prompt = [], prompts }: InferenceFlags): readonly string[] {
  const lines = prompts === undefined ? [] : new TextDecoder().decode(readInput(prompts)).split(/\r?\n/)
  const texts = [...prompt, ...lines.filter((line) => line !== '')]
  if (texts.length === 0) throw fault('BAD_WORK_INPUT', { why: 'nothing to go on from: give --prompt or --prompts' })
  if (texts.length > MOST_PROMPTS)
    throw fault('BAD_WORK_INPUT', { why: `${texts.length} prompts, more than ${MOST_PROMPTS}` })
  return texts
}

/** Shows the text of one sequence as its tokens are said. What was told is a claim until the work is shown. */
class Teller {
  readonly #codec: TextCodec
  readonly #stops: readonly number[]
  readonly #length: number
  readonly #shown: number
  readonly #tokens: number[] = []
  #told = ''

  constructor(codec: TextCodec, stops: readonly number[], length: number, shown: number) {
    this.#codec = codec
    this.#stops = stops
    this.#length = length
    this.#shown = shown
  }

  hear(step: WorkStep): void {
    if (step.step !== 'segment' || !step.mark) return
    const { transition, statistics } = step.mark
    // Places of the figures: the last of them is that of the newest token.
    const first = Math.max(0, this.#length + transition - this.#shown)
    this.#tokens.push(...statistics.slice(this.#length + this.#tokens.length - first))
    const text = this.#codec.decode(upToStop(this.#tokens, this.#stops).tokens)
    // A character whose last bytes have not come yet is shown when they have.
    process.stdout.write(visible(this.#rest(text.replace(/\uFFFD+$/, '')) ?? ''))
  }

  /** What of the whole text was not told yet; all of it where a tokenizer writes the same tokens otherwise with more behind them. */
  end(text: string): string {
    return this.#rest(text) ?? `\n\n${text}`
  }

  #rest(text: string): string | null {
    if (!text.startsWith(this.#told)) return null
    const more = text.slice(this.#told.length)
    this.#told = text
    return more
  }
}

/** A model's text must not steer a terminal. */
const visible = (text: string): string => text.replace(/[^\P{Cc}\n\t]|\p{Cf}/gu, '\uFFFD')
