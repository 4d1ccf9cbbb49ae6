import type { ScoreTerm } from '../score/scoreBox.ts'
import { LARGEST_COHORT } from './largestCohort.ts'

/** By box: what a box showed, in points of its cards, when it last ran beside that one. */
export type ShownBeside = Readonly<Record<string, number>>

/** Whoever showed less than this share of what it shows now has shown a part of a card, and no noise. */
export const FALLEN_SHARE = 0.8

/** What the cards of a box showed. What a rent, a tier or its host add to a score says nothing about who uses the cards. */
export const cardPoints = (terms: readonly ScoreTerm[]): number =>
  terms.reduce((sum, { name, points }) => (name.startsWith('gpu.') ? sum + points : sum), 0)

/** Shown beside a box that it has never met: less than nothing, which a box without a card shows beside everybody. */
export const STRANGER = -1

/** What is known already stays. */
export const noteStrangers = (beside: ShownBeside, ids: readonly string[]): ShownBeside => ({
  ...Object.fromEntries(ids.map((id) => [id, STRANGER])),
  ...beside,
})

/** Whether one of these has never run in a window with it in which both runs count. */
export const isStranger = (beside: ShownBeside, standing: readonly string[]): boolean =>
  standing.some((id) => beside[id] === STRANGER)

/** Beside whom it showed far less than this. */
export const fellBeside = (beside: ShownBeside, shown: number): string[] =>
  Object.keys(beside).filter((id) => beside[id]! < FALLEN_SHARE * shown)

/** To whom it owes a window: beside them it fell behind what it has shown beside others. */
export const owedByFall = (beside: ShownBeside): string[] => fellBeside(beside, Math.max(0, ...Object.values(beside)))

/** One window more. Beside a box whose run does not count a box can be shown to be slower, and not to be faster. */
export function noteBeside(
  before: ShownBeside,
  shown: number,
  ran: readonly string[],
  counted: readonly string[],
): ShownBeside {
  const known = new Map(Object.entries(before))
  const counts = new Set(counted)
  for (const id of ran) known.set(id, counts.has(id) ? shown : Math.min(known.get(id) ?? shown, shown))
  // Where it is more than can be remembered, what is lowest stays, and strangers go first: anybody may bring many.
  const rank = (points: number) => (points === STRANGER ? Number.MAX_VALUE : points)
  const lowest = [...known].sort(([, one], [, other]) => rank(one) - rank(other)).slice(0, LARGEST_COHORT)
  return Object.fromEntries(lowest)
}

/**
 * The share of what it shows that a box is paid: no more than it showed the last time beside any of those that hold a score.
 * Two boxes on one card would show half of it where they meet, and all of it where they do not.
 */
export function shareBeside(beside: ShownBeside, shown: number, standing: readonly string[]): number {
  const fell = fellBeside(beside, shown).filter((id) => beside[id] !== STRANGER && standing.includes(id))
  return fell.length === 0 ? 1 : Math.min(...fell.map((id) => beside[id]!)) / shown
}
