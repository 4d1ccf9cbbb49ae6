import { type Challenge, devicesOf } from '../proof/challenge.ts'

export type PartRole = 'peak' | 'sustained' | 'alone' | 'memory' | 'bind' | 'link' | 'partial'

/** What a part is for, read from the challenge alone: a precision asked twice of all devices is sustained the second time. */
export function partRole(challenge: Challenge, p: number): PartRole {
  const part = challenge.parts[p]!
  const isWhole = devicesOf(part).length === challenge.deviceCount
  // §7, attack 36: one memory could answer for each device in turn, so only a window of all devices counts.
  if (part.kind !== 'rounds') return isWhole ? part.kind : 'partial'
  if (!isWhole) return 'alone'
  const first = challenge.parts.findIndex(
    (other) => other.kind === 'rounds' && other.precision === part.precision && other.mask === part.mask,
  )
  return first === p ? 'peak' : 'sustained'
}
