export interface Destination {
  readonly host: string
  readonly port: number
  readonly family?: number
}

/** What is told to the thread that stamps. `id` names a connection, `door` a port that it listens on. */
export type ToStamper =
  | { readonly door: number; readonly listen: Destination | null }
  | { readonly id: number; readonly dial: Destination }
  | { readonly id: number; readonly write: Uint8Array }
  /** So many bytes of what came were taken: as many more may come. */
  | { readonly id: number; readonly taken: number }
  | { readonly id: number; readonly close: 'end' | 'destroy' }

export interface Broken {
  readonly code: string
  readonly message: string
}

/** What it tells. Those who dialled in have names of its own choice, below 0. */
export type FromStamper =
  | { readonly door: number; readonly listening: number | Broken }
  | { readonly door: number; readonly accepted: number; readonly remoteAddress: string }
  | { readonly id: number; readonly open: true }
  | { readonly id: number; readonly bytes: Uint8Array; readonly atUs: number }
  | { readonly id: number; readonly written: true }
  | { readonly id: number; readonly ended: true }
  | { readonly id: number; readonly closed: Broken | null }
  | { readonly stall: Stall }
  | { readonly begun: true }

/** A time in which nothing was heard; whatever came in it was heard by `heardUs`. */
export interface Stall {
  readonly fromUs: number
  readonly toUs: number
  readonly heardUs: number
}

/** When all that came by a moment was heard: then, or at the end of the stall in which it lies. */
export const heardAt = (stalls: readonly Stall[], atUs: number): number =>
  stalls.find(({ fromUs, toUs }) => fromUs <= atUs && atUs < toUs)?.heardUs ?? atUs
