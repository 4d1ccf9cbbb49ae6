import { MAX_DEVICES } from '../params/constants.ts'
import type { Catalogue, GpuModel } from './catalogue.ts'
import { closestNames, type Spelling } from './closestNames.ts'

export interface Claim {
  readonly count: number
  /** The words of the claim that name the card, as typed. */
  readonly card: string
  /** Every model these words can mean: "H100" means each of its versions. */
  readonly models: readonly GpuModel[]
}

export type ParsedClaim =
  | { readonly ok: true; readonly claim: Claim }
  | { readonly ok: false; readonly code: ClaimProblem; readonly problem: string; readonly nextStep: string }

const LONGEST = 80

/** Why a claim cannot be read. */
export const CLAIM_PROBLEMS = {
  EMPTY: 'it is empty',
  NOT_PLAIN: `a claim is at most ${LONGEST} printable characters`,
  BAD_COUNT: `a box has 1 to ${MAX_DEVICES} cards`,
  NO_SUCH_CARD: 'the catalogue has no card of that name',
} as const
type ClaimProblem = keyof typeof CLAIM_PROBLEMS

const SUGGESTIONS = 3
/** Words that sellers add or leave out without meaning another card. */
const FILLER = /\b(nvidia|geforce|tesla|quadro|gpu|gpus|graphics)\b/g

/** Reads "8x H100 SXM", "H100 SXM x 8" or "RTX 4090"; a claim sets what is asked, never what is accepted (§4.0). */
export function parseClaim(text: string, catalogue: Catalogue): ParsedClaim {
  if (text.trim() === '') return refuse('EMPTY', 'write it like "8x H100 SXM"')
  if (text.length > LONGEST || !/^[\x20-\x7e×]+$/.test(text)) return refuse('NOT_PLAIN', 'write it like "8x H100 SXM"')
  const { count, card } = splitCount(text.trim())
  if (!(count >= 1 && count <= MAX_DEVICES)) return refuse('BAD_COUNT', `write a count from 1 to ${MAX_DEVICES}`)
  const wanted = normal(card)
  const models = catalogue.models.filter((model) => namesOf(model).includes(wanted))
  if (wanted !== '' && models.length > 0) return { ok: true, claim: { count, card, models } }
  const meant = count > 1 ? { count, card } : bareCount(card)
  return refuse('NO_SUCH_CARD', suggestion(wordsOf(meant.card), meant.count, catalogue))
}

/** "8 H100" or "H100 8": no count as it stands, and lost if the next step left it out. */
function bareCount(text: string): { count: number; card: string } {
  const [, before, card] = /^(\d{1,2})\s+(.+)$/.exec(text) ?? []
  const [, other, after] = /^(.+?)\s+(\d{1,2})$/.exec(text) ?? []
  const count = Number(before ?? after)
  return count > 1 && count <= MAX_DEVICES ? { count, card: (card ?? other)! } : { count: 1, card: text }
}

function splitCount(text: string): { count: number; card: string } {
  const before = /^(\d{1,4})\s*[x×*]\s*(.+)$/i.exec(text)
  if (before !== null) return { count: Number(before[1]), card: before[2]!.trim() }
  const after = /^(.+?)\s+(?:[x×*]\s*(\d{1,4})|(\d{1,4})\s*[x×*])$/i.exec(text)
  if (after !== null) return { count: Number(after[2] ?? after[3]), card: after[1]!.trim() }
  return { count: 1, card: text }
}

const namesOf = (model: GpuModel): readonly string[] => [model.id, model.name, ...model.aliases].map(normal)

const wordsOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(FILLER, ' ')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()

const normal = (text: string): string => wordsOf(text).replaceAll(' ', '')

function suggestion(wanted: string, count: number, catalogue: Catalogue): string {
  const spellings = catalogue.models.flatMap(spellingsOf)
  const names = [...new Map(spellings.map((one) => [one.words.replaceAll(' ', ''), one])).values()]
  const counted = count > 1 ? `${count}x ` : ''
  const close = closestNames(wanted, names, SUGGESTIONS).map((name) => `${counted}${name}`)
  if (close.length > 0) return `write what is meant: ${quoted(close, ' or ')}`
  const step = Math.ceil(catalogue.models.length / SUGGESTIONS)
  const some = catalogue.models.filter((_, i) => i % step === 0).map((model) => spellingsOf(model)[0]!.name)
  return `write one of its names, for example ${quoted(some, ' or ')}`
}

/** How people write the model, without the words that mean nothing. */
const spellingsOf = ({ name, aliases }: GpuModel): readonly Spelling[] =>
  [...aliases, name.replace(/\(.*\)/, '')].map((text) => ({
    name: text.replace(new RegExp(FILLER, 'gi'), '').trim(),
    words: wordsOf(text),
  }))

const quoted = (names: readonly string[], last: string): string =>
  names
    .map((name) => `"${name}"`)
    .reduceRight((rest, name, i) => `${name}${i === names.length - 2 ? last : ', '}${rest}`)

const refuse = (code: ClaimProblem, nextStep: string): ParsedClaim => ({
  ok: false,
  code,
  problem: CLAIM_PROBLEMS[code],
  nextStep,
})
