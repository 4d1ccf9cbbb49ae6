import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { fromBase64 } from '../../../core/bytes/base64.ts'
import { equalBytes, words32 } from '../../../core/bytes/bytes.ts'
import { parseStrictJson } from '../../../core/bytes/parseStrictJson.ts'
import { splitRoots } from '../../../core/work/checkSegment.ts'
import { isCommittedState } from '../../../core/work/committedState.ts'
import { type InferenceParameters, inference } from '../../../core/work/kinds/inference/inference.ts'
import { openExactEngine } from '../../../drivers/gpu/cpu/work/openCpuWork.ts'
import { describeFolder, readModel } from '../../../drivers/model/readModel.ts'
import { readTokenizer } from '../../../drivers/model/readTokenizer.ts'
import { fault } from '../../faults.ts'
import { areSaidTokens, longestFirst, upToStop } from '../inferWork.ts'
import { readInput } from '../readInput.ts'
import type { GivenResult, ResultRule } from './resultRule.ts'

const token = z.int().min(0).max(0xffffffff)
const tokens = z.array(token).max(131_072)
const completion = z.strictObject({
  ...{ prompt: z.string(), text: z.string(), tokens, hasStopped: z.boolean(), rest: tokens },
})
const schema = z.strictObject({
  ...{ tokenizer: z.string(), cacheRoots: z.string(), completions: z.array(completion).min(1).max(1024) },
})
type Told = z.infer<typeof schema>

/** Texts through their tokenizer: what a person reads is compared, not only its tokens. */
export const inferenceResult: ResultRule = {
  async problem(given) {
    if (given.tokenizer === null)
      throw fault('RESULT_NOT_TIED', {
        why: 'a text is held against its tokens by the tokenizer of the model',
        how: 'Add --tokenizer FOLDER, the folder of the model.',
      })
    const told = toldIn(given.path)
    if (told === null) return 'it is no file of completions'
    const { stops, model } = describeFolder(given.tokenizer)
    const said = inference.parameters.parse(given.work.spec.parameters) as InferenceParameters
    if (!isDeepStrictEqual(model, said.model)) return 'it is of another model than that of --tokenizer, by its sizes'
    const codec = await readTokenizer(given.tokenizer, model.vocabulary)
    if (codec.hash !== told.tokenizer) return 'it was written with another tokenizer'
    const prompts = told.completions.map(({ prompt }) => codec.encode(prompt))
    const words = tokensOf(said, told, prompts)
    if (!words || !isTokens(given, told, words)) return 'its prompts or tokens are others'
    if (!areSaidTokens(said, given.work.ends, words, given.receipt.marks))
      return 'the receipt has other tokens for states on the way'
    const asked = said.total - said.lengths[0]!
    for (const [i, { text, tokens, rest, hasStopped }] of told.completions.entries()) {
      const cut = upToStop([...tokens, ...rest], stops, asked)
      if (cut.tokens.length !== tokens.length || cut.hasStopped !== hasStopped)
        return `text ${i + 1} ends where the model did not end it`
      if (codec.decode(tokens) !== text) return `text ${i + 1} is not that of its tokens`
    }
    return await weightsProblem(given, given.tokenizer)
  },
}

/** A text is of a model only where its weights are those that the receipt names. */
async function weightsProblem({ work, hasher }: GivenResult, folder: string): Promise<string | null> {
  const { tensors } = readModel(folder, await openExactEngine())
  const isNamed = ([name, bytes]: readonly [string, Uint8Array]) =>
    equalBytes(hasher.root(work.given.get(name)!, bytes), work.givenRoots.get(name)!)
  const other = [...tensors].find((tensor) => !isNamed(tensor))
  return other ? `it is of another model than that of --tokenizer: ${other[0]} is another` : null
}

function toldIn(path: string): Told | null {
  try {
    return schema.parse(parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(readInput(path))))
  } catch (error) {
    if (fault.is(error, 'NOT_READABLE') || fault.is(error, 'BAD_WORK_INPUT')) throw error
    return null
  }
}

/** The tensor `tokens` of the last state; null where prompts end elsewhere than was ordered (attack 345), or rows do not fill it. */
function tokensOf(
  { lengths, total }: InferenceParameters,
  { completions }: Told,
  prompts: readonly (readonly number[])[],
): Uint32Array | null {
  const order = longestFirst(prompts)
  const isOrdered = order.length === lengths.length && order.every((i, row) => prompts[i]!.length === lengths[row])
  const rows = order.map((i) => [...prompts[i]!, ...completions[i]!.tokens, ...completions[i]!.rest])
  return isOrdered && rows.every((row) => row.length === total) ? Uint32Array.from(rows.flat()) : null
}

/** Whether the receipt commits to them. */
function isTokens({ work, receipt, hasher, states }: GivenResult, { cacheRoots }: Told, words: Uint32Array): boolean {
  const beside = fromBase64(cacheRoots)
  if (!beside || beside.length % 32 !== 0) return false
  const made = states()?.get('tokens')
  if (made) return words32(made).every((word, i) => word === words[i])
  const held = new Map([['tokens', new Uint8Array(words.buffer)]])
  const end = work.ends.length - 1
  return isCommittedState(work, end, receipt.marks[end]!.root, held, hasher, splitRoots(beside))
}
