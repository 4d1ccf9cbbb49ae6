import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import { boxWords } from '../../core/bytes/boxWords.ts'
import { DOUBTS, type Doubt } from '../../core/certificate/doubts.ts'
import type { Judgement } from '../../core/certificate/judgeRun.ts'
import { type Verdict, verdictOf } from '../../core/certificate/verdict.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { type ClaimReason, explainClaim } from '../../core/identify/claimReasons.ts'
import { parseClaim } from '../../core/identify/parseClaim.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import type { PresetName } from '../../core/params/presets.ts'
import { explainReason, REASONS } from '../../core/proof/reasons.ts'
import { formatSeconds } from '../../core/units/format.ts'
import { labelled } from './labelled.ts'
import type { Colours, Terminal } from './terminal.ts'
import { wrap } from './wrap.ts'

/** What a reader wants to know first: the answer, the one reason for it, and what to do now. */
export interface Answer {
  readonly verdict: Verdict
  /** In capitals. */
  readonly word: string
  readonly text: string
  readonly why: string | null
  readonly now: string
}

export interface Asked {
  readonly judgement: Judgement
  readonly preset: PresetName
  readonly catalogue: Catalogue
  /** The certificate; null where sellers look at their own box, and none is kept. */
  readonly file: string | null
  /** Cards that the box lists and nobody asked for (`leftOutOf`). */
  readonly leftOut?: string | null
  /** How many devices failed, and are not judged. */
  readonly failed?: number
  /** A part that was over too soon for what was asked. */
  readonly cutShort?: BoxReport['cutShort']
  /** Whether every finding stands below the answer. */
  readonly isVerbose?: boolean
}

export const WORDS: Readonly<Record<Verdict, string>> = {
  'as-claimed': 'AS CLAIMED',
  'not-as-claimed': 'NOT AS CLAIMED',
  'not-established': 'NOT ESTABLISHED',
  genuine: 'GENUINE',
  rejected: 'REJECTED',
}

/** The answer of a run. Where devices failed the rest may be as claimed, and the box is not (attack 381). */
export function answerOf({ failed = 0, cutShort = null, ...asked }: Asked): Answer {
  const answer = answerOfRest({ failed, ...asked })
  if (!isYes(answer.verdict)) return answer
  if (failed > 0) return doubted({ code: 'DEVICE_FAILED', where: `${failed} that failed` }, headOf(answer))
  if (cutShort === null) return answer
  const [seconds, least] = [cutShort.seconds, cutShort.leastSeconds].map(formatSeconds)
  return doubted({ code: 'CUT_SHORT', where: `${seconds} of at least ${least}` }, headOf(answer))
}

/** The answer about the devices that were judged. */
export function answerOfRest({ failed = 0, ...asked }: Asked): Answer {
  const answer = answerOfJudged(asked)
  if (failed === 0 || answer.verdict === 'rejected') return answer
  return { ...answer, text: `${answer.text}, but for ${failed} that failed` }
}

/** Where something leaves it open. */
export function doubted(doubt: Doubt, why: string | null): Answer {
  const [verdict, now] = ['not-established', DOUBTS[doubt.code].nextStep] as const
  return { verdict, word: WORDS[verdict], text: doubtText(doubt), why, now }
}

export const doubtText = ({ code, where }: Doubt): string =>
  `${DOUBTS[code].meaning}${where ? ` (${where})` : ''} [${code}]`

const isYes = (verdict: Verdict): boolean => verdict === 'as-claimed' || verdict === 'genuine'

function answerOfJudged({ judgement, preset, catalogue, file, leftOut = null, isVerbose = false }: Asked): Answer {
  const { reason, claim } = judgement
  const verdict = verdictOf(judgement)
  const word = WORDS[verdict]
  if (reason)
    return {
      verdict,
      word,
      text: `${explainReason(reason)} [${reason.code}]`,
      why: null,
      now: nowOfRejected(reason.code),
    }
  const found = foundText(judgement, leftOut)
  if (claim === null)
    return {
      verdict,
      word,
      text: `found ${found}`,
      why: 'the box did the work it was asked to do, in the time shown',
      now: `To have it held against what was sold, add --claim "8x H100 SXM".${file === null ? '' : ` The certificate is ${file}.`}`,
    }
  const sold = soldText(claim.text, catalogue)
  const why = gravestReason(claim, judgement.devices.length, isVerbose)
  if (verdict === 'as-claimed') return { verdict, word, text: sold, why, now: nowOfMatch(file) }
  if (verdict === 'not-established') {
    const now = preset === 'mainnet' ? ON_AN_IDLE_BOX : 'Verify again with mainnet, the default preset, and every part.'
    return { verdict, word, text: `sold ${sold}: neither shown nor refuted`, why, now }
  }
  const how = SLOWED.includes(claim.verdict) ? `, ${claim.verdict}` : ''
  if (leftOut !== null) return { verdict, word, text: `sold ${sold}, tested ${found}`, why, now: TEST_THE_CARDS }
  const now =
    file === null
      ? `Do not offer it as ${sold}: every buyer would see this.`
      : `Do not pay for it as ${sold}: send ${file} to the seller, who can check it with your key.`
  return { verdict, word, text: `sold ${sold}, found ${found}${how}`, why, now }
}

/** Where the cards themselves were left out. */
export const TEST_THE_CARDS = 'Verify again without --devices: this says nothing about the cards.'

const nowOfMatch = (file: string | null): string =>
  file === null ? 'Offer it as that: every buyer would see the same.' : `Keep it; ${file} is the receipt.`

const ON_AN_IDLE_BOX = 'Stop other work on the box and verify again; if it stays so, ask the seller why.'
/** The right card, but not all of it. */
const SLOWED: readonly string[] = ['shared', 'throttled', 'power-capped', 'undersized run']

const nowOfRejected = (code: keyof typeof REASONS): string => REASONS[code].nextStep

/** "8x H100 SXM" and "H100 SXM x 8" alike. */
export function soldText(text: string, catalogue: Catalogue): string {
  const parsed = parseClaim(text, catalogue)
  return parsed.ok ? `${parsed.claim.count} x ${parsed.claim.card}` : boxWords(text)
}

/**
 * Cards that the box lists while whoever verified it asked for its processor alone: that they were left out is the signer's
 * word, which cards they are is the box's.
 */
export function leftOutOf(
  { devices }: Pick<Judgement, 'devices'>,
  askedDevices: string | null,
  { host }: Pick<Inventory, 'host'>,
): string | null {
  if (askedDevices === null || devices.some(({ identity }) => identity.status !== 'cpu')) return null
  return typeof host.gpuLeftOut === 'string' && host.gpuLeftOut !== '' ? host.gpuLeftOut : null
}

/** How many of what, as far as the run can tell. */
export function foundText({ devices }: Pick<Judgement, 'devices'>, leftOut: string | null): string {
  const kinds = new Map<string, number>()
  for (const { identity } of devices) {
    const name = identity.model ?? (leftOut === null ? NAMELESS[identity.status] : 'CPU')
    kinds.set(name, (kinds.get(name) ?? 0) + 1)
  }
  const found = [...kinds].map(([name, count]) => `${count} x ${name}`).join(', ') || 'no device'
  // Whose words they are comes before them, and where they end is seen (attack 203).
  return leftOut === null ? found : `${found}; left out by choice, as the box lists them: ${boxWords(leftOut)}`
}

const NAMELESS = {
  cpu: 'CPU, no GPU',
  insecure: 'card that such a run cannot identify',
  unknown: 'unknown card',
  identified: 'unknown card',
} as const

type Claim = NonNullable<Judgement['claim']>

/** Of all findings the gravest, once for all cards that it holds for. */
function gravestReason({ verdict, reasons }: Claim, devices: number, isVerbose: boolean): string | null {
  const grave = reasons.filter((reason) => typeof reason === 'string' || reason.verdict === verdict)
  const [first] = grave
  if (first === undefined) return null
  const same = grave.filter((reason) => sentence(reason) === sentence(first))
  return `${cardsOfReasons(same, devices)}${sentence(first)}${moreText(new Set(reasons.map(sentence)).size - 1, isVerbose)}`
}

const moreText = (more: number, isVerbose: boolean): string =>
  more === 0 ? '' : `; ${more} more ${isVerbose ? 'below' : 'with --verbose'}`

const sentence = (reason: ClaimReason | string): string => (typeof reason === 'string' ? reason : explainClaim(reason))

/** Every finding once, with the cards it holds for. */
export function groupedReasons({ reasons }: Claim, devices: number): string[] {
  return [...new Set(reasons.map(sentence))].map((text) => {
    const same = reasons.filter((reason) => sentence(reason) === text)
    return `${cardsOfReasons(same, devices)}${text}`
  })
}

function cardsOfReasons(reasons: readonly (ClaimReason | string)[], devices: number): string {
  const cards = reasons.flatMap((reason) =>
    typeof reason === 'string' || reason.device === null ? [] : [reason.device],
  )
  if (devices < 2 || cards.length === 0) return ''
  if (cards.length === devices) return `all ${devices} cards: `
  return `${cards.length === 1 ? 'card' : 'cards'} ${cards.join(', ')}: `
}

/** What it would be but for what leaves it open. */
export const headOf = ({ word, text }: Pick<Answer, 'word' | 'text'>): string =>
  `without that it would be: ${word}  ${text}`

/** At the top: the answer, why, and what to do now. */
export const answerLines = (answer: Answer, terminal: Pick<Terminal, 'colours' | 'columns'>): string[] => [
  ...headline(answer, terminal),
  ...labelled('why', answer.why, 7, terminal.columns),
  ...labelled('now', answer.now, 7, terminal.columns),
]

/** At the end, where whoever scrolled past it looks: three rows at most in 80 columns, or as few as there can be. */
export const closingLines = (answer: Answer, terminal: Pick<Terminal, 'colours' | 'columns'>): string[] => [
  '',
  ...headline(answer, terminal),
]

function headline({ verdict, word, text }: Answer, { colours, columns }: Pick<Terminal, 'colours' | 'columns'>) {
  const [first = '', ...rest] = wrap(text, columns - 2, columns - word.length - 2)
  return [`${colours.bold(colourOf(verdict, colours)(word))}  ${first}`, ...rest.map((row) => `  ${row}`)]
}

function colourOf(verdict: Verdict, { red, green, yellow }: Colours) {
  if (verdict === 'not-established') return yellow
  return isYes(verdict) ? green : red
}
