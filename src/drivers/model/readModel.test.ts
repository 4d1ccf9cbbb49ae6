import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { chanceFrom } from '../../../test/support/workTrials.ts'
import { checkpointParts, describeModel } from '../../core/work/kinds/inference/checkpoint.ts'
import { modelTensors } from '../../core/work/kinds/inference/weights.ts'
import { tensorBytes } from '../../core/work/tensor.ts'
import { engineOnOwned } from '../../core/work/workEngine.ts'
import { createWorkKernels } from '../../core/work/workKernels.ts'
import { readKernel } from '../system/kernelFiles.ts'
import { fault } from './faults.ts'
import { quantiseRows, widened } from './numbers.ts'
import { readModel } from './readModel.ts'

const engine = engineOnOwned(await createWorkKernels(await readKernel('work.wasm')))
const folder = mkdtempSync(join(tmpdir(), 'touchstone-model-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const sizes = { hidden_size: 16, intermediate_size: 24, vocab_size: 30, max_position_embeddings: 32 }
const heads = { num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2 }
const CONFIGS = {
  llama: { model_type: 'llama', ...sizes, ...heads, rms_norm_eps: 1e-5, hidden_act: 'silu', rope_theta: 5e5 },
  qwen2: {
    ...{ model_type: 'qwen2', ...sizes, ...heads, rms_norm_eps: 1e-6, hidden_act: 'silu' },
    ...{ tie_word_embeddings: true, use_sliding_window: false, eos_token_id: [3, 4] },
  },
  gpt2: {
    ...{ model_type: 'gpt2', n_layer: 2, n_embd: 16, n_head: 4, n_positions: 32, vocab_size: 30 },
    ...{ layer_norm_epsilon: 1e-5, activation_function: 'gelu_new', eos_token_id: 29 },
  },
} as const
type Name = keyof typeof CONFIGS

interface Entry {
  dtype: string
  shape: readonly number[]
  data_offsets: [number, number]
}

const floatsOf = (name: string, count: number) => chanceFrom(name.length * 97 + count).floats(count, 0.5)

/** A checkpoint with every tensor that its kind has, as bytes of a file. */
function checkpoint(config: object, change: (header: Record<string, Entry>) => void = () => {}): Uint8Array {
  const sources = checkpointParts(describeModel(config)).flatMap((part) => part.sources)
  const header: Record<string, Entry> = {}
  const bodies: Uint8Array[] = []
  let at = 0
  for (const { name, dims } of new Map(sources.map((source) => [source.name, source])).values()) {
    const body = new Uint8Array(
      floatsOf(
        name,
        dims.reduce((a, b) => a * b, 1),
      ).buffer,
    )
    header[name] = { dtype: 'F32', shape: dims, data_offsets: [at, at + body.length] }
    at += body.length
    bodies.push(body)
  }
  change(header)
  return fileOf(header, Buffer.concat(bodies))
}

function fileOf(header: object, body: Uint8Array): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header))
  const length = new Uint8Array(8)
  new DataView(length.buffer).setBigUint64(0, BigInt(json.length), true)
  return Buffer.concat([length, json, body])
}

let made = 0
function modelFolder(files: Readonly<Record<string, string | Uint8Array>>): string {
  const path = mkdtempSync(join(folder, `${made++}-`))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return path
}
const whole = (name: Name, change?: (header: Record<string, Entry>) => void, config: object = CONFIGS[name]) =>
  modelFolder({ 'config.json': JSON.stringify(config), 'model.safetensors': checkpoint(CONFIGS[name], change) })

describe.each(Object.keys(CONFIGS) as Name[])('a %s', (name) => {
  test('is read as the tensors that its work names', () => {
    const { model, tensors } = readModel(whole(name), engine)
    const shapes = modelTensors(model)
    expect([...tensors.keys()]).toEqual([...shapes.keys()])
    for (const [tensor, shape] of shapes) expect(tensors.get(tensor)).toHaveLength(tensorBytes(shape))
  })

  test('has every row within half a step of its scale', () => {
    const { model, tensors } = readModel(whole(name), engine)
    const isGpt = name === 'gpt2'
    const source = isGpt ? 'h.1.mlp.c_fc.weight' : 'model.layers.1.mlp.up_proj.weight'
    const { hidden, width } = model
    const given = floatsOf(source, hidden * width)
    const rows = new Int8Array(Uint8Array.from(tensors.get('1.up.weight')!).buffer)
    const scales = new Float32Array(Uint8Array.from(tensors.get('1.up.scales')!).buffer)
    for (let row = 0; row < hidden; row++)
      for (let column = 0; column < width; column++) {
        const value = given[isGpt ? column * hidden + row : row * width + column]!
        expect(Math.abs(rows[row * width + column]! * scales[row]! - value)).toBeLessThanOrEqual(scales[row]! * 0.5001)
      }
  })
})

test('q, k and v of a Llama are one matrix; a tied head is the table; stop tokens are those of the configuration', () => {
  const { tensors, stops, isTied } = readModel(whole('qwen2'), engine)
  const at = (name: string, rows: number) =>
    quantiseRows(engine, floatsOf(`model.layers.0.self_attn.${name}_proj.weight`, rows * 16), 16)
  expect(tensors.get('0.qkv.weight')).toEqual(
    Buffer.concat(['q', 'k', 'v'].map((name, i) => at(name, i === 0 ? 16 : 8).rows)),
  )
  const table = quantiseRows(engine, floatsOf('model.embed_tokens.weight', 480), 16)
  expect(Buffer.from(tensors.get('head.weight')!)).toEqual(Buffer.from(table.rows))
  expect({ stops, isTied }).toEqual({ stops: [3, 4], isTied: true })
})

test('shards with an index are the same model as one file, and f16 and bf16 are read as the numbers they are', () => {
  const one = checkpoint(CONFIGS.llama)
  const length = Number(new DataView(one.buffer, one.byteOffset).getBigUint64(0, true))
  const header = JSON.parse(new TextDecoder().decode(one.subarray(8, 8 + length)))
  const names = Object.keys(header)
  const shard = (part: readonly string[]) => {
    let at = 0
    const bodies = part.map((name) =>
      one.subarray(...(header[name].data_offsets.map((o: number) => 8 + length + o) as [number, number])),
    )
    const entries = part.map((name, i) => {
      const from = at
      at += bodies[i]!.length
      return [name, { ...header[name], data_offsets: [from, at] }]
    })
    return fileOf(Object.fromEntries(entries), Buffer.concat(bodies))
  }
  const half = names.length >> 1
  const [first, second] = [names.slice(0, half), names.slice(half)]
  const map = Object.fromEntries(
    names.map((name, i) => [name, i < half ? 'model-1.safetensors' : 'model-2.safetensors']),
  )
  const config = JSON.stringify(CONFIGS.llama)
  const sharded = modelFolder({
    ...{ 'config.json': config, 'model-1.safetensors': shard(first), 'model-2.safetensors': shard(second) },
    'model.safetensors.index.json': JSON.stringify({ weight_map: map }),
  })
  expect(readModel(sharded, engine)).toEqual(readModel(whole('llama'), engine))
  fc.assert(
    fc.property(fc.nat(65_535), (bits) => {
      const bytes = Uint8Array.of(bits & 255, bits >> 8)
      const exponent = (bits >> 10) & 31
      const size = exponent === 0 ? (bits & 1023) * 2 ** -24 : (1024 + (bits & 1023)) * 2 ** (exponent - 25)
      expect(widened('F16', bytes)?.[0]).toBe(exponent === 31 ? undefined : bits >> 15 ? -size : size)
      const floats = new Float32Array(Uint32Array.of(bits << 16).buffer)
      expect(widened('BF16', bytes)?.[0]).toBe(Number.isFinite(floats[0]) ? floats[0] : undefined)
    }),
  )
})

describe('a hostile model is refused before work starts', () => {
  const first = 'model.layers.0.mlp.up_proj.weight'
  const refused = (path: string, why: RegExp | string, code = 'BAD_MODEL') => {
    const read = () => readModel(path, engine)
    expect(read).toThrow(why)
    expect(read).toThrow(expect.objectContaining({ detail: expect.objectContaining({ code }) }))
  }
  const entry = (change: (entry: Entry) => Partial<Entry>) => (header: Record<string, Entry>) =>
    void Object.assign(header[first]!, change(header[first]!))

  test.each<[string, (header: Record<string, Entry>) => void, RegExp]>([
    ['shapes that lie', entry(({ shape }) => ({ shape: [shape[1]!, shape[0]!] })), /16 by 24 where 24 by 16/],
    [
      'offsets that overlap',
      entry(({ data_offsets: [from, to] }) => ({ data_offsets: [from - 4, to - 4] })),
      /overlap/,
    ],
    ['offsets beyond the file', entry(() => ({ data_offsets: [2 ** 40, 2 ** 40 + 1536] })), /cut off/],
    ['sizes beyond counting', entry(() => ({ shape: [2 ** 40, 2 ** 40] })), /cut off/],
    ['numbers of eight bits', entry(() => ({ dtype: 'F8_E4M3' })), /cut off/],
    ['a missing tensor', (header) => void delete header[first], /up_proj.weight is missing/],
  ])('%s', (_, change, why) => refused(whole('llama', change), why))

  test.each<[string, object, RegExp]>([
    ['another kind of model', { model_type: 'bert' }, /model_type/],
    ['scaled frequencies', { rope_scaling: { type: 'linear', factor: 2 } }, /rope_scaling/],
    ['weights that were quantised already', { quantization_config: { bits: 4 } }, /quantization_config/],
    ['heads that do not divide', { num_attention_heads: 5 }, /cannot be/],
    ['no layers', { num_hidden_layers: 0 }, /num_hidden_layers/],
    ['a norm of nothing', { rms_norm_eps: -1 }, /epsilon/],
    ['a vocabulary of billions', { vocab_size: 4e9 }, /vocab_size/],
    ['another activation', { hidden_act: 'relu' }, /hidden_act/],
  ])('%s', (_, change, why) => refused(whole('llama', undefined, { ...CONFIGS.llama, ...change }), why))

  test('more weights than anything holds', () => {
    const config = {
      ...CONFIGS.llama,
      hidden_size: 65_536,
      num_attention_heads: 512,
      intermediate_size: 262_144,
      num_hidden_layers: 256,
    }
    refused(whole('llama', undefined, config), /more than/, 'MODEL_TOO_BIG')
  })

  test('a weight that is none, wherever it lies', () => {
    const bytes = Buffer.from(checkpoint(CONFIGS.gpt2))
    for (const at of [4, 4000, 4 * 16 * 30 + 8]) {
      const changed = Buffer.from(bytes)
      changed.writeUInt32LE(0x7fc00000, changed.length - at)
      const files = { 'config.json': JSON.stringify(CONFIGS.gpt2), 'model.safetensors': changed }
      refused(modelFolder(files), /infinite or none/)
    }
  })

  test('an index that leads out of its folder, and links that do', () => {
    const config = JSON.stringify(CONFIGS.llama)
    for (const name of ['../secret.safetensors', '/etc/passwd', 'a/b.safetensors', '..', 'x'.repeat(300), 7, null])
      refused(
        modelFolder({
          'config.json': config,
          'model.safetensors.index.json': JSON.stringify({ weight_map: { a: name } }),
        }),
        /none of its folder/,
      )
    const outside = whole('llama')
    const linked = modelFolder({ 'config.json': config })
    symlinkSync(join(outside, 'model.safetensors'), join(linked, 'model.safetensors'))
    refused(linked, /no model.safetensors/, 'MODEL_NOT_READABLE')
  })

  test('a folder without files, and files that are none', () => {
    refused(folder, /config.json/, 'MODEL_NOT_READABLE')
    refused(modelFolder({ 'config.json': '{' }), /not JSON/)
    refused(modelFolder({ 'config.json': JSON.stringify(CONFIGS.llama), 'model.safetensors': 'short' }), /shorter/)
  })

  test('any change of a byte of the header is read as a whole model, or refused by name', () => {
    const bytes = checkpoint(CONFIGS.qwen2)
    const path = whole('qwen2')
    const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true))
    fc.assert(
      fc.property(fc.nat(7 + length), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(bytes)
        changed[at]! ^= flip
        writeFileSync(join(path, 'model.safetensors'), changed)
        try {
          readModel(path, engine)
        } catch (error) {
          expect(fault.is(error, 'BAD_MODEL')).toBe(true)
        }
      }),
      { numRuns: 40, seed: 3 },
    )
  })
})
