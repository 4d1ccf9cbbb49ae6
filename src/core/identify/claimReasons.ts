import * as z from 'zod'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { count, fact, plain } from '../bytes/fields.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { CLAIM_PROBLEMS } from './parseClaim.ts'
import { explainRuledOut, RULED_OUT } from './ruleOut.ts'

/**
 * What a run can say of a claim, the gravest first: it names the verdict, and the reasons keep all that was found. `unproven`
 * stands below everything that was found out: a card that shows it is weaker is weaker, whatever else it kept to itself.
 * It stands above `matches`: a box is what was sold only if nothing of it is left open.
 */
export const CLAIM_ANSWERS = [
  'undersized run',
  'different',
  'weaker',
  'shared',
  'throttled',
  'power-capped',
  'unproven',
  'matches',
  'unreadable',
] as const
export type ClaimAnswer = (typeof CLAIM_ANSWERS)[number]

/** Every code there is, with the verdict it stands for. */
export const CLAIM_CODES = {
  UNDERSIZED_RUN: 'undersized run',
  OTHER_CARD: 'different',
  NO_KNOWN_CARD: 'different',
  NOT_A_GPU: 'different',
  WEAKER_CARD: 'weaker',
  TOO_SLOW: 'weaker',
  SLOWER_THAN_KNOWN: 'weaker',
  NOTHING_SHOWN: 'weaker',
  FEWER_DEVICES: 'weaker',
  SLOWER_TOGETHER: 'shared',
  ALL_PARTS_SLOWED: 'shared',
  SPEED_FADES: 'throttled',
  COMPUTE_CAPPED: 'power-capped',
  NOTHING_MEASURED: 'unproven',
  NOT_SHOWN: 'unproven',
  NOT_KEPT_UP: 'unproven',
  MEMORY_NOT_RUN: 'unproven',
  MEMORY_NOT_SHOWN: 'unproven',
  MEMORY_TOO_SLOW: 'unproven',
  MEMORY_IN_TURNS: 'unproven',
  MEMORY_MAY_BE_LENT: 'unproven',
  BIND_NOT_RUN: 'unproven',
  BIND_TOO_SLOW: 'unproven',
  LIKELIER_CARD: 'unproven',
  INSECURE_PRESET: 'unproven',
  UNREADABLE_CLAIM: 'unreadable',
  FITS_CLAIM: 'matches',
} as const satisfies Readonly<Record<string, ClaimAnswer>>

export type ClaimCode = keyof typeof CLAIM_CODES

/** One finding as data: the code and what it is about. Whole numbers and plain text, so that every reader gets the same. */
export const findingSchema = z.strictObject({
  code: z.enum(Object.keys(CLAIM_CODES) as ClaimCode[]),
  verdict: z.enum(CLAIM_ANSWERS),
  /** Index of the device, or null when it concerns the box. */
  device: count.nullable(),
  /** Rates in operations a second, memory in bytes, shares in thousandths, cards by name. */
  got: fact,
  expected: fact,
  precision: z.enum(PRECISION_NAMES).exactOptional(),
  /** The claimed card it was held against, by name. */
  model: plain.exactOptional(),
  /** How many other devices took part. */
  beside: count.exactOptional(),
  restsOn: z.array(plain).max(16).exactOptional(),
  /** Why the closest claimed card is impossible. */
  ruledOut: z.enum(RULED_OUT).exactOptional(),
})
export type ClaimReason = DeepReadonly<z.infer<typeof findingSchema>>

export function claimReason(code: ClaimCode, facts: Omit<ClaimReason, 'code' | 'verdict'>): ClaimReason {
  return { code, verdict: CLAIM_CODES[code], ...facts }
}

/** A finding in words. */
export const explainClaim = (reason: ClaimReason): string => SENTENCES[reason.code](reason, withArticle)

/**
 * The same as certificates of version 1 hold it instead of the data, with "a" before every card. A check compares them:
 * a sentence that such a certificate can hold stays as it is, letter for letter.
 */
export const explainToVersion1 = (reason: ClaimReason): string => SENTENCES[reason.code](reason, (card) => `a ${card}`)

type Card = ClaimReason['got']

/** "an NVIDIA H200", "an RTX 4090", "a Tesla T4": capitals are read one by one, and some of them begin with a vowel. */
export const withArticle = (card: Card | undefined): string =>
  `${/^[AEFHILMNORSX][A-Z0-9]/.test(String(card)) ? 'an' : 'a'} ${card}`

type Sentence = (reason: ClaimReason, a: (card: Card | undefined) => string) => string

const SENTENCES: Readonly<Record<ClaimCode, Sentence>> = {
  UNDERSIZED_RUN: ({ precision, got, model, expected, beside = 0 }, a) =>
    `${precision} ran with m = n = ${got}; ${a(model)} runs ${expected}${beside > 0 ? ' here' : ''}`,
  OTHER_CARD: fitsOther,
  WEAKER_CARD: fitsOther,
  NO_KNOWN_CARD: fitsNone,
  SLOWER_THAN_KNOWN: fitsNone,
  NOT_A_GPU: () => 'a CPU was tested and no GPU',
  TOO_SLOW: ({ model }, a) => `slower than ${a(model)} in every part`,
  NOTHING_SHOWN: () => 'the device showed no work',
  FEWER_DEVICES: ({ got, expected, model }) => `${expected} devices were claimed (${model}), ${got} answered`,
  SLOWER_TOGETHER: () => 'with all devices at work it keeps too little of its speed',
  ALL_PARTS_SLOWED: ({ model }, a) => `${a(model)} with rates and memory speed lower alike`,
  SPEED_FADES: () => 'its speed fades while it works',
  COMPUTE_CAPPED: ({ model }, a) =>
    `${a(model)} with full memory speed and lower rates: a power or clock limit, or a slower library`,
  NOTHING_MEASURED: () => 'nothing was measured to compare with',
  NOT_SHOWN: ({ precision, got, expected, model }, a) =>
    `${precision} was not shown at the speed of ${a(model)}: ${tera(got)} T/s of at least ${tera(expected)}`,
  NOT_KEPT_UP: ({ precision, model }, a) => `it was sustained in ${precision}, which ${a(model)} has no unit for`,
  MEMORY_NOT_RUN: () => 'the memory part was not run',
  MEMORY_NOT_SHOWN: ({ got, expected, model }, a) =>
    `the memory of ${a(model)} was not shown: ${giga(got)} GB held of at least ${giga(expected)}; free it and verify again`,
  MEMORY_TOO_SLOW: ({ got, expected, model }, a) =>
    `the memory was not read at the speed of ${a(model)}: ${giga(got)} GB/s of at least ${giga(expected)}`,
  MEMORY_IN_TURNS: () => 'the memories were not read together, so one card may have served several devices in turns',
  MEMORY_MAY_BE_LENT: ({ got, expected }, a) =>
    `${a(got)} could have held as much with its host, so it need not be ${a(expected)}`,
  BIND_NOT_RUN: () => 'the bind part was not run, so it may be several cards',
  BIND_TOO_SLOW: ({ got }) => `bound rounds at ${Number(got) / 10} % of the int8 rate, so it may be several cards`,
  LIKELIER_CARD: ({ got, expected }, a) => `what it did is more like ${a(got)} than ${a(expected)}`,
  INSECURE_PRESET: ({ got, expected }) => `the preset ${got} says nothing of a claim; use ${expected}`,
  UNREADABLE_CLAIM: ({ got }) => CLAIM_PROBLEMS[got as keyof typeof CLAIM_PROBLEMS] ?? 'it cannot be read',
  FITS_CLAIM: ({ expected, restsOn = [] }, a) => `what it did fits ${a(expected)}; rests on ${restsOn.join(', ')}`,
}

function fitsOther({ got, expected }: ClaimReason, a: Parameters<Sentence>[1]): string {
  return `what it did fits ${a(got)}, not ${a(expected)}`
}

function fitsNone({ expected, ruledOut }: ClaimReason): string {
  return `what it did fits no card of the catalogue; closest claimed: ${expected}${ruledOut === undefined ? '' : ` (${explainRuledOut(ruledOut)})`}`
}

const tera = (value: number | string): string => (Number(value) / 1e12).toFixed(1)
const giga = (value: number | string): string => (Number(value) / 1e9).toFixed(1)

/** The findings of a claim in words, whatever version of a certificate they come from. */
export const explainReasons = (reasons: readonly (ClaimReason | string)[]): readonly string[] =>
  reasons.map((reason) => (typeof reason === 'string' ? reason : explainClaim(reason)))
