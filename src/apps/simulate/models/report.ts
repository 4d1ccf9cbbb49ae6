/** A line of a picture: points in order. */
export interface Line {
  readonly name: string
  readonly points: readonly (readonly [number, number])[]
}

/** What a picture shows, before anybody draws it. */
export interface Chart {
  readonly name: string
  readonly title: string
  readonly x: string
  readonly y: string
  readonly lines: readonly Line[]
  /** Dots rather than lines. */
  readonly isScatter?: boolean
}

/** A promise of the specification and what came out. */
export interface Finding {
  readonly says: string
  readonly measured: number
  /** What it may be at most, or at least. */
  readonly limit: { readonly atMost: number } | { readonly atLeast: number }
}

export interface Report {
  readonly name: string
  readonly findings: readonly Finding[]
  readonly charts: readonly Chart[]
}

export const holds = ({ measured, limit }: Finding): boolean =>
  'atMost' in limit ? measured <= limit.atMost : measured >= limit.atLeast

export const atMost = (says: string, measured: number, most: number): Finding => ({
  says,
  measured,
  limit: { atMost: most },
})
export const atLeast = (says: string, measured: number, least: number): Finding => ({
  says,
  measured,
  limit: { atLeast: least },
})
