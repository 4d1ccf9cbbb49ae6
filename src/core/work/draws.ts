import type { Op, ShapedStep } from './op.ts'
import type { Ops, ShapedProgram } from './program.ts'
import { drawBelow, drawBit } from './stateChain.ts'

/** W4.3. So many segments are drawn of a work whose transitions build on each other. */
export const DRAWN_SEGMENTS = 8
/** W12.5.2. So many of them are proven by sumcheck besides, where a training is shown so. */
export const PROVEN_SEGMENTS = 2
/** So many patches of a work whose transitions do not. */
export const INDEPENDENT_PATCHES = 128
/** Of each drawn segment: patches of products (by operations), of the optimiser, and of other steps, each alike. */
export const PRODUCT_PATCHES = 16
const OPTIMISER_PATCHES = 4
export const OTHER_PATCHES = 12

const CHOKE = 'choke'
const PRODUCTS = new Set(['product', 'productPieces', 'flow', 'picture'])
const OPTIMISERS = new Set(['adamWFirst', 'adamWSecond', 'adamWWeight', 'sgdVelocity', 'sgdWeight'])

/** A patch that is asked for: of a step of a transition, counted from the start of its segment. */
export interface PatchDraw {
  readonly transition: number
  readonly step: number
  readonly patch: number
}

/** Which segments are drawn, ascending and without repeats: all of them where they are few. */
export function drawSegments(seed: Uint8Array, segments: number, wanted = DRAWN_SEGMENTS): readonly number[] {
  if (segments <= wanted) return Array.from({ length: segments }, (_, i) => i)
  const drawn = new Set<number>()
  for (let i = 0; drawn.size < wanted; i++) drawn.add(drawBelow(seed, 'segment', i, segments))
  return [...drawn].sort((a, b) => a - b)
}

/** One place among many, each as likely as its weight: whole numbers, so that everybody draws the same. */
function drawWeighted(seed: Uint8Array, what: string, index: number, weights: readonly number[]): number {
  let rest = drawBelow(
    seed,
    what,
    index,
    weights.reduce((sum, weight) => sum + weight, 0),
  )
  return weights.findIndex((weight) => {
    rest -= weight
    return rest < 0
  })
}

interface Candidate {
  readonly transition: number
  readonly step: number
  readonly weight: number
}

function candidates<K>(
  ops: Ops<K>,
  programs: readonly ShapedProgram[],
  wants: (op: string) => boolean,
  byOperations: boolean,
): readonly Candidate[] {
  return programs.flatMap(({ steps, shaped }, transition) =>
    steps.flatMap(({ op }, step) =>
      wants(op) ? [{ transition, step, weight: byOperations ? ops[op]!.operations(shaped[step]!) : 1 }] : [],
    ),
  )
}

/**
 * W4.3.4. Of a step that copies most of what it writes, a choke is drawn among what it makes, and any other as often among
 * that as among all: a patch of chance would show a copy (attack 443).
 */
function drawPatch<K>(op: Op<K>, step: ShapedStep, seed: Uint8Array, what: string, index: number): number {
  const named = `${what} patch`
  const fresh = op.fresh?.(step)
  if (!fresh || !(what === CHOKE || drawBit(seed, named, index))) return drawBelow(seed, named, index, op.patches(step))
  return fresh.at(drawBelow(seed, named, index, fresh.count))
}

/** The patches of a segment whose transitions have these programs. */
export function drawPatches<K>(
  ops: Ops<K>,
  programs: readonly ShapedProgram[],
  seed: Uint8Array,
): readonly PatchDraw[] {
  const patchIn = ({ transition, step }: Omit<Candidate, 'weight'>, what: string, index: number): PatchDraw => {
    const { steps, shaped } = programs[transition]!
    return { transition, step, patch: drawPatch(ops[steps[step]!.op]!, shaped[step]!, seed, what, index) }
  }
  const some = (what: string, wanted: number, from: readonly Candidate[]): PatchDraw[] => {
    if (from.length === 0) return []
    const weights = from.map(({ weight }) => weight)
    return Array.from({ length: wanted }, (_, i) => patchIn(from[drawWeighted(seed, what, i, weights)]!, what, i))
  }
  const isOther = (op: string) => !PRODUCTS.has(op) && !OPTIMISERS.has(op)
  const chosen = drawBelow(seed, `${CHOKE} transition`, 0, programs.length)
  const chokes = programs[chosen]!.steps.flatMap(({ isChoke }, step) => (isChoke ? [{ transition: chosen, step }] : []))
  return [
    ...chokes.map((choke, i) => patchIn(choke, CHOKE, i)),
    ...some(
      'optimiser',
      OPTIMISER_PATCHES,
      candidates(ops, programs, (op) => OPTIMISERS.has(op), false),
    ),
    ...some(
      'product',
      PRODUCT_PATCHES,
      candidates(ops, programs, (op) => PRODUCTS.has(op), true),
    ),
    ...some('other', OTHER_PATCHES, candidates(ops, programs, isOther, false)),
  ]
}
