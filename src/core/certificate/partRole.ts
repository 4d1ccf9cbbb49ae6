import { type Challenge, devicesOf } from '../proof/challenge.ts'

export type PartRole = 'peak' | 'sustained' | 'alone' | 'memory' | 'bind' | 'link'

/** What a part is for, read from the challenge alone: a precision asked twice of all devices is sustained the second time. */
export function partRole(challenge: Challenge, p: number): PartRole {
  const part = challenge.parts[p]!
  if (part.kind !== 'rounds') return part.kind
  if (devicesOf(part).length < challenge.deviceCount) return 'alone'
  const first = challenge.parts.findIndex(
    (other) => other.kind === 'rounds' && other.precision === part.precision && other.mask === part.mask,
  )
  return first === p ? 'peak' : 'sustained'
}
