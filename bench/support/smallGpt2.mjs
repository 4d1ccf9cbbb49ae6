import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Tokens are bytes, and one more that ends a text. */
export const END_OF_TEXT = 256
export const SMALL = { layers: 3, width: 128, heads: 4, context: 128 }

const folder = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** The Markdown of installed packages as tokens, file after file; every tenth is kept apart. */
export function installedText() {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .sort()
  const tokensOf = (paths) =>
    Uint16Array.from(paths.flatMap((path) => [...readFileSync(join(folder, path)), END_OF_TEXT]))
  const isApart = (_, i) => i % 10 === 9
  return {
    training: tokensOf(files.filter((path, i) => !isApart(path, i))),
    apart: tokensOf(files.filter(isApart)),
  }
}

/** Bytes as the characters that GPT-2 writes them with. */
function byteCharacters() {
  const isPrinted = (byte) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrinted(byte) ? byte : next++))
}

/** A tokenizer.json whose tokens are bytes. */
export function byteTokenizer() {
  const level = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false }
  const end = { id: END_OF_TEXT, content: '<|endoftext|>', single_word: false, lstrip: false, rstrip: false }
  const vocab = Object.fromEntries([...byteCharacters(), end.content].map((text, id) => [text, id]))
  const model = { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null }
  const affixes = { end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: false }
  return {
    ...{ version: '1.0', truncation: null, padding: null, normalizer: null },
    added_tokens: [{ ...end, normalized: false, special: true }],
    ...{ pre_tokenizer: level, post_processor: null, decoder: level },
    model: { ...model, ...affixes, vocab, merges: [] },
  }
}

/** The nearest half of a number of ordinary size, ties to even. */
export function halfBits(value) {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size < 2 ** -14) return sign | roundEven(size * 2 ** 24)
  const exponent = Math.floor(Math.log2(size))
  return sign | (((exponent + 14) << 10) + roundEven(size * 2 ** (10 - exponent)))
}

function roundEven(value) {
  const low = Math.floor(value)
  const rest = value - low
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low
}
