import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { concatBytes, u32le } from '../../src/core/bytes/bytes.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import type { TensorHasher } from '../../src/core/work/engineRun.ts'
import { checkTransition, type TransitionProblem } from '../../src/core/work/methods/step/checkStep.ts'
import type { CommittedTransition } from '../../src/core/work/methods/step/proveStep.ts'
import type { RestDraws, TransitionProof } from '../../src/core/work/methods/step/rest.ts'
import type { ProvenProducts, RestPlan } from '../../src/core/work/methods/step/restPlan.ts'
import { WorkRefusal } from '../../src/core/work/refusals.ts'
import { engineOnOwned, stepEngineOnOwned } from '../../src/core/work/workEngine.ts'
import { createWorkKernels } from '../../src/core/work/workKernels.ts'
import { nonceFor, type OpenEngines, type SmallStep, smallDecoder, smallMlp, smallStep } from './smallStep.ts'
import { tinyTraining } from './tinyTraining.ts'
import { type Chance, chanceFrom } from './workTrials.ts'

/** The proof of a transition as somebody hands it over, right or altered. */
export interface StepCase {
  readonly name: string
  readonly wanted: ProvenProducts
  readonly small: SmallStep
  readonly of: CommittedTransition
  readonly nonce: Uint8Array
  readonly proof: TransitionProof
}

/** What a second implementation says of it (`test/vectors/step.json`): nothing, or the code and what is wrong. */
export type StepVerdict = { readonly code: string; readonly tensor?: string } | null

/** Our own check of it. */
export const problemOf = ({ small: { checker, work, plan }, of, nonce, proof }: StepCase): TransitionProblem | null =>
  checkTransition(checker, work, plan, of, of.said, nonce, proof)

/** A case as the second implementation reads it; numbers of the wire in hex. */
export function spellCase({ wanted, small: { work, plan }, of, nonce, proof }: StepCase) {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  return {
    ...{ specification: work.text, orderId: hex(work.orderId), seed: hex(work.seed) },
    ...{ transition: plan.transition, wanted, before: hex(of.before), after: hex(of.after.root) },
    ...{ figures: of.after.statistics, matrixRoot: hex(of.said.root), roots: of.said.roots.map(hex) },
    ...{ nonce: hex(nonce), rest: hex(proof.rest), products: hex(proof.products) },
  }
}

/** All that it is, in one hash. */
export const caseHash = (one: StepCase): string =>
  createHash('sha256')
    .update(JSON.stringify(spellCase(one)))
    .digest('hex')

const NONCE = sha256(Uint8Array.of(7))
const OTHER = new Uint8Array(32)
const FIELD = 15 * 2 ** 27 + 1

const wasm = readFileSync(new URL('../../kernels/built/work.wasm', import.meta.url))
const open: OpenEngines = {
  exact: async () => engineOnOwned(await createWorkKernels(wasm)),
  step: async () => stepEngineOnOwned(await createWorkKernels(wasm)),
}

type Change = (bytes: Uint8Array) => Uint8Array
const flipped =
  (share: number): Change =>
  (bytes) => {
    const copy = bytes.slice()
    copy[Math.floor(share * bytes.length)]! ^= 1
    return copy
  }
const cut: Change = (bytes) => bytes.subarray(0, -1)
const none: Change = () => new Uint8Array()
const longer: Change = (bytes) => concatBytes(bytes, Uint8Array.of(0))
/** The first number of the field is not below its order. */
const outOfField: Change = (bytes) => concatBytes(u32le(FIELD), bytes.subarray(4))

const CHANGES: readonly (readonly [string, Change])[] = [
  ...[0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999].map((share) => [`a bit at ${share} of`, flipped(share)] as const),
  ...([
    ['the last byte off', cut],
    ['nothing left of', none],
    ['a byte behind', longer],
  ] as const),
]

/** The right proof, and others that are made of it without a new commitment. */
export async function alteredCases(wanted: ProvenProducts): Promise<readonly StepCase[]> {
  const small = await smallStep(smallDecoder('gpt'), open, wanted)
  const of = small.commit()
  const proof = of.prove(NONCE)
  const right = { name: `GPT altered, ${wanted}: nothing`, wanted, small, of, nonce: NONCE, proof }
  const but = (name: string, change: Partial<StepCase>): StepCase => ({
    ...right,
    ...change,
    name: `GPT altered, ${wanted}: ${name}`,
  })
  const committed = (change: Partial<CommittedTransition>) => ({ of: { ...of, ...change } })
  const said = (change: Partial<CommittedTransition['said']>) => committed({ said: { ...of.said, ...change } })
  const { roots } = of.said
  const { rest, products } = proof
  return [
    right,
    but('another state before', committed({ before: OTHER })),
    but('another state after', committed({ after: { ...of.after, root: OTHER } })),
    but('another loss', committed({ after: { ...of.after, statistics: of.after.statistics.map((bits) => bits ^ 1) } })),
    but('a root less', said({ roots: roots.slice(1) })),
    but('a root more', said({ roots: [...roots, OTHER] })),
    but('a root that is too short', said({ roots: [roots[0]!.subarray(1), ...roots.slice(1)] })),
    but('another root of what is no state', said({ roots: [...roots.slice(0, 70), OTHER, ...roots.slice(71)] })),
    but('another root of the matrix', said({ root: OTHER })),
    but('another nonce', { nonce: OTHER }),
    but('the proof of another nonce', { proof: of.prove(OTHER) }),
    ...CHANGES.flatMap(([name, change]) => [
      but(`${name} what is opened`, { proof: { products, rest: change(rest) } }),
      but(`${name} the products`, { proof: { rest, products: change(products) } }),
    ]),
    but('a number beyond the field', { proof: { rest, products: outOfField(products) } }),
  ]
}

const floatsIn = (bytes: Uint8Array) => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
const raised = (bytes: Uint8Array) => {
  const floats = floatsIn(bytes)
  for (const [i, value] of floats.entries()) floats[i] = value + 1
}
const raisedFirst = (bytes: Uint8Array) => raised(bytes.subarray(0, 64))
const noNumbers = (bytes: Uint8Array) => floatsIn(bytes).fill(Number.NaN)
const otherBits = (bytes: Uint8Array) => bytes.set(bytes.map((byte) => byte ^ 1))
const swapped = (bytes: Uint8Array) => {
  const half = bytes.length / 2
  bytes.set(concatBytes(bytes.slice(half), bytes.slice(0, half)))
}
/** The same numbers of the field, but no sums of products. */
const aroundField = (bytes: Uint8Array) => {
  const sums = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  for (const [i, sum] of sums.entries()) if (sum < 0) sums[i] = sum + FIELD
}

type Wish = (draws: RestDraws) => boolean
const isDrawn: Wish = ({ sequences }) => sequences.includes(0)
const isNotDrawn: Wish = ({ sequences }) => !sequences.includes(0)
const anything: Wish = () => true

const MODELS = {
  GPT: smallDecoder('gpt'),
  Llama: smallDecoder('llama'),
  MLP: smallMlp,
  /** Rows of several patches and leaves, sums of squares in several pieces, a head whose root is rounded. */
  'wide GPT': (hasher: TensorHasher) =>
    tinyTraining('gpt', 6, hasher, { model: { layers: 2, width: 272, headSize: 24, hidden: 300, vocabulary: 61 } }),
  Qwen2: (hasher: TensorHasher) =>
    tinyTraining('llama', 6, hasher, { model: { width: 24, headSize: 6, hidden: 40, hasQkvBias: true, isTied: true } }),
}
type Cheat = readonly [name: string, tensor: string, tamper: (bytes: Uint8Array) => void, wish: Wish]

/** What somebody who cheats does to a tensor before the commitment; of each model, with the products that are proven. */
const CHEATS: readonly (readonly [keyof typeof MODELS, ProvenProducts, readonly Cheat[]])[] = [
  [
    'GPT',
    'all',
    [
      ['an activation of a drawn sequence', 'gelu#1', raisedFirst, isDrawn],
      ['an activation of a sequence that is not drawn', 'gelu#1', raisedFirst, isNotDrawn],
      ['a row of attention', 'exponential#1', raisedFirst, isDrawn],
      ['another rounding by chance', 'quantise#17', swapped, anything],
      ['other tokens embedded', 'embed#1', swapped, isDrawn],
      ['another batch', 'windowOrder#1', (bytes) => bytes.fill(0), anything],
      ['the batch in another order', 'windowOrder#1', swapped, isDrawn],
      ['scales of channels', 'rowScale#17', raised, anything],
      ['the sum of a bias', 'rowSum#5', raised, anything],
      ['scales of weights', 'rowScale#2', raised, anything],
      ['rounded weights', 'quantise#2', otherBits, anything],
      ['a gradient of weights', 'productPieces#9', raised, anything],
      ['a table of gradients', 'embedBackward#1', raised, anything],
      ['a moment', 'adamWFirst#5', raised, anything],
      ['the next weights', 'adamWWeight#5', raised, anything],
      ['weights that are no numbers', 'adamWWeight#5', noNumbers, anything],
      ['the clip', 'clipFactor#1', raised, anything],
      ['the loss', 'loss#1', raised, anything],
      ['what is summed over all tokens', 'transpose#5', raised, anything],
      ['a wrong product', 'product#1', otherBits, anything],
      ['a product beyond its range', 'product#1', aroundField, anything],
    ],
  ],
  [
    'GPT',
    'shared',
    [
      ['a product of a drawn sequence', 'product#1', otherBits, isDrawn],
      ['rounded weights', 'quantise#2', otherBits, anything],
      ['a wrong gradient of weights', 'productPieces#9/sums', otherBits, anything],
      ['a gradient of weights beyond its range', 'productPieces#9/sums', aroundField, anything],
    ],
  ],
  [
    'Llama',
    'all',
    [
      ['a query turned by another place', 'rotary#1', swapped, isDrawn],
      ['a gate', 'siluProduct#1', raisedFirst, isDrawn],
      ['scales of the head', 'rowScale#17', raised, anything],
    ],
  ],
  ['Llama', 'shared', [['a query turned by another place', 'rotary#1', swapped, isDrawn]]],
  [
    'MLP',
    'all',
    [
      ['another sample', 'quantise#1', swapped, isDrawn],
      ['an activation', 'relu#1', raisedFirst, isDrawn],
      ['a velocity', 'sgdVelocity#1', raised, anything],
      ['the next weights', 'sgdWeight#1', raised, anything],
    ],
  ],
  ['MLP', 'shared', [['an activation', 'relu#1', raisedFirst, isDrawn]]],
]
/** Larger ones. */
const LARGE: typeof CHEATS = [
  ['wide GPT', 'shared', [['the next weights', 'adamWWeight#5', raised, anything]]],
  ['Qwen2', 'all', [['the sum of a bias', 'rowSum#9', raised, anything]]],
]

/** Of every model a right proof, and those of whoever cheated before the commitment. */
export async function committedCases(): Promise<readonly StepCase[]> {
  const found: StepCase[] = []
  for (const [model, wanted, cheats] of [...CHEATS, ...LARGE]) {
    const small = await smallStep(MODELS[model], open, wanted)
    const honest: Cheat = ['as it was made', '', () => {}, anything]
    for (const [name, tensor, tamper, wish] of [honest, ...cheats]) {
      const of = small.commit(new Map([[tensor, tamper]]))
      const nonce = nonceFor(small, of, wish)
      found.push({ name: `${model}, ${wanted}: ${name}`, wanted, small, of, nonce, proof: of.prove(nonce) })
    }
  }
  return found
}

/** One bit of a number, or of all numbers, of one tensor of a transition; whichever chance hits. */
function cheatByChance({ whole }: RestPlan, chance: Chance): readonly [string, (bytes: Uint8Array) => void] {
  const [step, bit, isOfAll, place] = [
    chance.one(whole.steps),
    1 << chance.whole(0, 7),
    chance.whole(0, 1),
    chance.whole(0, 999),
  ]
  const flip = (bytes: Uint8Array) => {
    const first = isOfAll ? 0 : 4 * Math.floor((place * bytes.length) / 4000)
    for (let at = first; at < (isOfAll ? bytes.length : first + 1); at += 4) bytes[at]! ^= bit
  }
  return [step.outputs[0]!, flip]
}

/** Proofs of so many who cheated anywhere; without those whose own numbers ended in a fault. */
export async function chanceCases(count: number, seed: number): Promise<readonly StepCase[]> {
  const chance = chanceFrom(seed)
  const found: StepCase[] = []
  for (const [model, wanted] of CHEATS) {
    const small = await smallStep(MODELS[model], open, wanted)
    for (let i = 0; i < count / CHEATS.length; i++) {
      const [tensor, tamper] = cheatByChance(small.plan, chance)
      const nonce = sha256(u32le(i))
      try {
        const of = small.commit(new Map([[tensor, tamper]]))
        const name = `${model}, ${wanted}: ${tensor}, nonce ${i}`
        found.push({ name, wanted, small, of, nonce, proof: of.prove(nonce) })
      } catch (error) {
        if (!(error instanceof WorkRefusal)) throw error
      }
    }
  }
  return found
}
