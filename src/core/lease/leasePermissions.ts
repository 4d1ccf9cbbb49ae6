import type { LeasePurpose } from './leaseBook.ts'

/** Hex keys by what they may have the box for: a minute to verify it is one thing, a month of it another. */
export interface LeasePermissions {
  /** Keys, or `anyone`. */
  readonly verify: readonly string[]
  /** Keys only: a stranger could keep the box from everybody else for a month. */
  readonly rent: readonly string[]
  /** What was said of this one key since, and then counts alone: nothing at all for a key that is kept out. */
  readonly said: (key: string) => readonly LeasePurpose[] | null
}

/** Neither permission holds the other. */
export function isPermitted({ verify, rent, said }: LeasePermissions, key: string, purpose: LeasePurpose): boolean {
  const own = said(key)
  if (own !== null) return own.includes(purpose)
  return purpose === 'rent' ? rent.includes(key) : verify.includes(key) || verify.includes('anyone')
}

/** Whether this key was named, for whatever purpose, and not kept out since. */
export const isNamed = ({ verify, rent, said }: LeasePermissions, key: string): boolean =>
  (said(key)?.length ?? Number(verify.includes(key) || rent.includes(key))) > 0
