import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { smallDecoder, smallMlp, smallStep } from '../../../../../test/support/smallStep.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { bitsOf } from '../../ops/shapes.ts'
import { openWork } from '../../work.ts'
import { engineOnOwned, stepEngineOnOwned } from '../../workEngine.ts'
import { createWorkKernels } from '../../workKernels.ts'
import { WORK_KINDS } from '../../workKinds.ts'
import { EXACT_OPS } from '../../workOps.ts'
import { encodeSpec } from '../../workSpec.ts'
import { proofBytesOf } from './proofBytes.ts'
import { requireProvable } from './provenWork.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const open = {
  exact: async () => engineOnOwned(await createWorkKernels(wasm)),
  step: async () => stepEngineOnOwned(await createWorkKernels(wasm)),
}

test.each([
  ['GPT', smallDecoder('gpt'), 'shared'],
  ['GPT', smallDecoder('gpt'), 'all'],
  ['Llama', smallDecoder('llama'), 'shared'],
  ['MLP', smallMlp, 'all'],
] as const)('a proof of a small %s has no more bytes than are counted for it', async (_, make, products) => {
  const small = await smallStep(make, open, products)
  const committed = small.commit()
  const most = proofBytesOf(small.work, small.plan)
  for (const nonce of [1, 2, 3]) {
    const { rest, products: proof } = committed.prove(sha256(Uint8Array.of(nonce)))
    expect(rest.length + proof.length).toBeLessThanOrEqual(most)
    expect(rest.length + proof.length).toBeGreaterThan(most / 2)
  }
})

/** A GPT of bytes, as `touchstone work run train` orders it. */
function training(layers: number, width: number, tokens: number, sequences: number, vocabulary = 256, heads = 2) {
  const model = {
    ...{ family: 'gpt', layers, width, heads, keyHeads: heads, headSize: width / heads, hidden: 4 * width, vocabulary },
    ...{ context: tokens, rotaryBase: 0, hasQkvBias: true, isTied: true },
  }
  const optimiser = { name: 'sgd', momentum: bitsOf(0.9), clip: bitsOf(1), rates: [[0, bitsOf(0.1)]] }
  const parameters = { model, optimiser, sequences, tokens, windows: 1000, start: 'fresh' }
  const inputs = [{ name: 'data', uri: '', root: '00'.repeat(32) }]
  const text = encodeSpec({ kind: 'training', version: 1, parameters, inputs, transitions: 2, interval: 1 })
  return openWork(WORK_KINDS, EXACT_OPS, { text, orderId: new Uint8Array(32), seed: new Uint8Array(32) })
}

test('attack 234: proofs that no receipt holds are refused before the work, and not whoever did it after it', () => {
  // Rows of positions that two sequences look up are 4 MB of each proof.
  expect(() => requireProvable(training(1, 480, 2048, 2), 'shared')).toThrow('the receipt would have up to')
  expect(() => requireProvable(training(3, 512, 128, 64), 'shared')).not.toThrow()
})

test('attack 238: what a check would need gigabytes for is refused before anything is made', () => {
  // Scores of 16 heads over 4,096 tokens are a gigabyte, in a proof that does not grow with heads.
  expect(() => requireProvable(training(1, 64, 4096, 2, 256, 16), 'shared')).toThrow('1074 MB again')
  expect(() => requireProvable(training(1, 64, 4096, 2, 256, 8), 'shared')).not.toThrow()
})

test('attack 236: what could be wrong with more than 2^-100 is not proven', () => {
  expect(() => requireProvable(training(1, 32, 16, 4, 131_072), 'shared')).not.toThrow()
  expect(() => requireProvable(training(12, 32, 16, 4, 131_072), 'shared')).toThrow('2^-100 is the most')
})
