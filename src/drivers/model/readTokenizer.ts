import { createHash } from 'node:crypto'
import { toHex } from '../../core/bytes/hex.ts'
import { readModelJson } from './checkpointFiles.ts'
import { fault } from './faults.ts'

/** Between text and tokens. It is shown with its hash, and no part of what is proven. */
export interface TextCodec {
  /** SHA-256 of tokenizer.json as it was parsed. */
  readonly hash: string
  /** Throws a fault where a text has no tokens, or one outside the vocabulary. */
  encode(text: string): readonly number[]
  decode(tokens: readonly number[]): string
}

/** What we use of the library. */
interface Library {
  encode(text: string): { readonly ids: readonly number[] }
  decode(tokens: number[], options: Readonly<Record<string, boolean>>): string
}

/** The tokenizer.json of a folder. */
export async function readTokenizer(folder: string, vocabulary: number): Promise<TextCodec> {
  // Nobody who runs no model waits for it.
  const { Tokenizer } = await import('@huggingface/tokenizers')
  const json = readModelJson(folder, 'tokenizer.json')
  const tokenizer: Library = orBadModel(() => new Tokenizer(json as object, configOf(folder)))
  return {
    hash: toHex(createHash('sha256').update(JSON.stringify(json)).digest()),
    encode(text) {
      const { ids } = orBadModel(() => tokenizer.encode(text))
      if (ids.length === 0) throw fault('BAD_MODEL', { why: 'its tokenizer makes no token of a prompt' })
      if (!ids.every((id) => Number.isSafeInteger(id) && id >= 0 && id < vocabulary))
        throw fault('BAD_MODEL', { why: 'its tokenizer makes tokens that are not in its vocabulary' })
      return ids
    },
    decode: (tokens) =>
      orBadModel(() =>
        tokenizer.decode([...tokens], { skip_special_tokens: true, clean_up_tokenization_spaces: false }),
      ),
  }
}

/** Beside it, where people have it. */
function configOf(folder: string): object {
  try {
    return readModelJson(folder, 'tokenizer_config.json') as object
  } catch (error) {
    if (fault.is(error, 'MODEL_NOT_READABLE')) return {}
    throw error
  }
}

/** The library throws whatever a file makes it throw. */
function orBadModel<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw fault('BAD_MODEL', { why: 'tokenizer.json is not one that can be used' }, error)
  }
}
