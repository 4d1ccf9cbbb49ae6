import type { LeasePurpose } from './leaseBook.ts'

/** Hex keys by what they may have the box for: a minute to verify it is one thing, a month of it another. */
export interface LeasePermissions {
  /** Keys, or `anyone`. */
  readonly verify: readonly string[]
  /** Keys only: a stranger could keep the box from everybody else for a month. */
  readonly rent: readonly string[]
}

/** Neither permission holds the other. */
export const isPermitted = ({ verify, rent }: LeasePermissions, key: string, purpose: LeasePurpose): boolean =>
  purpose === 'rent' ? rent.includes(key) : verify.includes(key) || verify.includes('anyone')
