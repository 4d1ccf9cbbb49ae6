import * as z from 'zod'
import { DecodeError } from '../../../bytes/reader.ts'
import { bitsOf } from '../../ops/shapes.ts'
import { layerMatrices, type Model, modelSchema } from './weights.ts'

const count = z.int().min(1).max(10_000_000)
const ids = z.union([z.int().min(0), z.array(z.int().min(0)).max(64)]).nullish()
const absent = z.union([z.null(), z.literal(false)]).optional()

/** What GPT-2's configuration must say; more is not looked at. */
const gpt2 = z.object({
  model_type: z.literal('gpt2'),
  ...{ n_layer: count, n_embd: count, n_head: count, n_positions: count, vocab_size: count },
  n_inner: count.nullish(),
  layer_norm_epsilon: z.number(),
  activation_function: z.enum(['gelu_new', 'gelu_pytorch_tanh']),
  tie_word_embeddings: z.literal(true).optional(),
  scale_attn_weights: z.literal(true).optional(),
  scale_attn_by_inverse_layer_idx: absent,
  ...{ eos_token_id: ids, quantization_config: absent },
})

const llama = z.object({
  model_type: z.enum(['llama', 'qwen2']),
  ...{ num_hidden_layers: count, hidden_size: count, num_attention_heads: count, intermediate_size: count },
  ...{ num_key_value_heads: count.nullish(), head_dim: count.nullish() },
  ...{ vocab_size: count, max_position_embeddings: count, rms_norm_eps: z.number() },
  hidden_act: z.literal('silu'),
  rope_theta: z.number().min(1).max(1e30).optional(),
  rope_parameters: z.object({ rope_type: z.literal('default'), rope_theta: z.number().min(1).max(1e30) }).nullish(),
  tie_word_embeddings: z.boolean().optional(),
  ...{ rope_scaling: absent, attention_bias: absent, mlp_bias: absent, use_sliding_window: absent },
  ...{ eos_token_id: ids, quantization_config: absent },
})

const config = z.discriminatedUnion('model_type', [gpt2, llama])

/** A checkpoint as its configuration describes it. */
export interface Described {
  readonly model: Model
  readonly kind: 'gpt2' | 'llama' | 'qwen2'
  readonly isTied: boolean
  /** Text ends with any of these. */
  readonly stops: readonly number[]
}

/** Reads config.json as it was parsed; throws a DecodeError that says what is not as it must be. */
export function describeModel(value: unknown): Described {
  const parsed = config.safeParse(value)
  if (!parsed.success) {
    const { path } = parsed.error.issues[0]!
    throw new DecodeError(`config.json: ${path.join('.') || 'it'} is not what gpt2, llama or qwen2 have`)
  }
  const said = parsed.data
  const model = modelSchema.safeParse(said.model_type === 'gpt2' ? modelOfGpt2(said) : modelOfLlama(said))
  if (!model.success) {
    const { path } = model.error.issues[0]!
    throw new DecodeError(`config.json: its ${path.join('.') || 'sizes'} cannot be`)
  }
  const isTied = said.tie_word_embeddings ?? said.model_type === 'gpt2'
  return { model: model.data, kind: said.model_type, isTied, stops: [said.eos_token_id ?? []].flat() }
}

/** Longer than this no sequence is. */
const MAX_CONTEXT = 131_072

const modelOfGpt2 = (said: z.infer<typeof gpt2>) => ({
  ...{ family: 'gpt', layers: said.n_layer, width: said.n_embd, heads: said.n_head, keyHeads: said.n_head },
  ...{ headSize: said.n_embd / said.n_head, hidden: said.n_inner ?? 4 * said.n_embd, vocabulary: said.vocab_size },
  // Its positions are a table: all of it is read.
  ...{ context: said.n_positions, rotaryBase: 0, hasQkvBias: true, epsilon: bitsOf(said.layer_norm_epsilon) },
})

const modelOfLlama = (said: z.infer<typeof llama>) => ({
  ...{ family: 'llama', layers: said.num_hidden_layers, width: said.hidden_size, heads: said.num_attention_heads },
  keyHeads: said.num_key_value_heads ?? said.num_attention_heads,
  headSize: said.head_dim ?? said.hidden_size / said.num_attention_heads,
  ...{ hidden: said.intermediate_size, vocabulary: said.vocab_size },
  context: Math.min(said.max_position_embeddings, MAX_CONTEXT),
  rotaryBase: bitsOf(said.rope_parameters?.rope_theta ?? said.rope_theta ?? 10_000),
  ...{ hasQkvBias: said.model_type === 'qwen2', epsilon: bitsOf(said.rms_norm_eps) },
})

/** A tensor of the file: its name there, and the dims it must have. */
export interface Source {
  readonly name: string
  readonly dims: readonly number[]
}

/** W9.1.3. One tensor of a model from those of a checkpoint, one after the other; matrices become int8. */
export interface Part {
  readonly name: string
  readonly form: 'floats' | 'matrix'
  /** The file has it by its inputs. */
  readonly isTurned: boolean
  readonly sources: readonly Source[]
}

const vector = (name: string, sources: readonly Source[]): Part => ({ name, form: 'floats', isTurned: false, sources })
const floats = (name: string, source: string, dims: readonly number[]): Part => vector(name, [{ name: source, dims }])
const matrix = (name: string, sources: readonly Source[], isTurned = false): Part => ({
  ...{ name, form: 'matrix', isTurned, sources },
})

/** Everything that is read from a checkpoint: our name, and where it comes from. */
export const checkpointParts = (of: Described): readonly Part[] =>
  of.kind === 'gpt2' ? gpt2Parts(of.model) : llamaParts(of)

const GPT2_NAMES: Readonly<Record<string, string>> = {
  ...{ qkv: 'attn.c_attn', o: 'attn.c_proj', up: 'mlp.c_fc', down: 'mlp.c_proj' },
}

function gpt2Parts(model: Model): readonly Part[] {
  const { width, vocabulary, context, layers } = model
  const norm = (name: string, source: string) => [
    floats(`${name}.gain`, `${source}.weight`, [width]),
    floats(`${name}.shift`, `${source}.bias`, [width]),
  ]
  const layer = (i: number) => [
    ...norm(`${i}.norm1`, `h.${i}.ln_1`),
    ...norm(`${i}.norm2`, `h.${i}.ln_2`),
    ...layerMatrices(model, i).flatMap(({ name, outputs, inputs }) => {
      const source = `h.${i}.${GPT2_NAMES[name.split('.')[1]!]}`
      const weight = matrix(name, [{ name: `${source}.weight`, dims: [inputs, outputs] }], true)
      return [weight, floats(`${name}.bias`, `${source}.bias`, [outputs])]
    }),
  ]
  const table = { name: 'wte.weight', dims: [vocabulary, width] }
  return [
    floats('embed', table.name, table.dims),
    floats('positions', 'wpe.weight', [context, width]),
    ...Array.from({ length: layers }, (_, i) => layer(i)).flat(),
    ...norm('final', 'ln_f'),
    matrix('head', [table]),
  ]
}

const LLAMA_NAMES: Readonly<Record<string, string>> = {
  ...{ o: 'self_attn.o_proj', gate: 'mlp.gate_proj', up: 'mlp.up_proj', down: 'mlp.down_proj' },
}

function llamaParts({ model, isTied }: Described): readonly Part[] {
  const { width, vocabulary, layers, heads, keyHeads, headSize, hasQkvBias } = model
  const rows = [heads, keyHeads, keyHeads].map((count) => count * headSize)
  const layer = (i: number) => {
    const at = (name: string) => `model.layers.${i}.${name}`
    const qkv = (end: string, more: readonly number[]) =>
      ['q', 'k', 'v'].map((name, part) => ({ name: at(`self_attn.${name}_proj.${end}`), dims: [rows[part]!, ...more] }))
    return [
      floats(`${i}.norm1.gain`, at('input_layernorm.weight'), [width]),
      floats(`${i}.norm2.gain`, at('post_attention_layernorm.weight'), [width]),
      matrix(`${i}.qkv`, qkv('weight', [width])),
      ...(hasQkvBias ? [vector(`${i}.qkv.bias`, qkv('bias', []))] : []),
      ...layerMatrices(model, i)
        .slice(1)
        .map(({ name, outputs, inputs }) =>
          matrix(name, [{ name: `${at(LLAMA_NAMES[name.split('.')[1]!]!)}.weight`, dims: [outputs, inputs] }]),
        ),
    ]
  }
  const table = { name: 'model.embed_tokens.weight', dims: [vocabulary, width] }
  const head = isTied ? table : { ...table, name: 'lm_head.weight' }
  return [
    floats('embed', table.name, table.dims),
    ...Array.from({ length: layers }, (_, i) => layer(i)).flat(),
    floats('final.gain', 'model.norm.weight', [width]),
    matrix('head', [head]),
  ]
}
