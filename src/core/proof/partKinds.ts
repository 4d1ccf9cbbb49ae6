import { isWhole, type PartKind, type PartRole, type PartShape } from './part.ts'
import { bind } from './parts/bind.ts'
import { link } from './parts/link.ts'
import { memories, memory } from './parts/memory.ts'
import { rounds } from './parts/rounds.ts'
import { ALONE_SHARE } from './planPart.ts'

/** Every kind of part there is; the place of a kind is its code in a challenge (§4.1). */
export const PART_KINDS = [rounds, memory, bind, link, memories] as const
/** Version 1 knew no more. */
export const KINDS_OF_VERSION_1 = [rounds, memory, bind, link] as const

type ShapeOf<K> = K extends PartKind<infer S> ? S : never

/** A part before its nonce is drawn. */
export type PlannedPart = ShapeOf<(typeof PART_KINDS)[number]>
export type Part = PlannedPart & { readonly nonceHash: Uint8Array }

export const kindOf = (part: Pick<PartShape, 'kind'>): PartKind<PlannedPart> =>
  PART_KINDS.find(({ name }) => name === part.kind)!

/** How many roots device d owes in a part. */
export const rootCount = (part: PartShape, device: number): number =>
  kindOf(part).phases.reduce((sum, phase) => sum + phase.roots(part, device), 0)

/** The roots of device d that the clock of a rate does not count: all but those of the last phase. */
export const untimedRoots = (part: PartShape, device: number): number =>
  rootCount(part, device) - kindOf(part).phases.at(-1)!.roots(part, device)

/** What a part is for, read from the challenge alone. */
export function partRole(parts: readonly PartShape[], p: number): PartRole {
  const kind = kindOf(parts[p]!)
  if (kind.role) return kind.role(parts, p)
  // §7, attack 36: one memory could answer for each device in turn, so only a window of all devices counts.
  return isWhole(parts[p]!) ? kind.name : 'partial'
}

/** §7: whether each pass of a device follows from those of all others. */
export const isReadTogether = ({ kind }: Pick<PlannedPart, 'kind'>): boolean => kind === 'memories'

/** Before attack 465 each of several devices read its memory as it came to it. */
export const isReadInTurns = ({ kind, kept }: Pick<PlannedPart, 'kind' | 'kept'>): boolean =>
  kind === 'memory' && kept.length > 1

/** Whether a score rests on what a part showed of each device. */
export const isPaid = (parts: readonly PartShape[], p: number): boolean =>
  ['peak', 'sustained', 'memory'].includes(partRole(parts, p))

/** The part that part p is compared with, which may be itself, and the share of its rounds that are enough for that. */
export function comparedWith(parts: readonly PartShape[], p: number) {
  return isWhole(parts[p]!) ? { part: p, share: 1 } : { part: 0, share: ALONE_SHARE }
}
