import type { Paged } from '../../ports/store.ts'

export type SqlValue = string | number | boolean | null

/** A statement with its values apart: nothing of a value ever becomes SQL. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** Words of our own for a statement, never a value. */
type Words = Statement & { readonly values: readonly [] }
export const words = (text: string): Words => ({ text, values: [] })

/** `sql\`select ${x}\`` makes `select $1` and [x]; values are cast in the text, so that both engines read them alike. */
export function sql(parts: TemplateStringsArray, ...given: readonly (SqlValue | Words)[]): Statement {
  const values: SqlValue[] = []
  const placed = given.map((one) => (one instanceof Object && 'text' in one ? one.text : `$${values.push(one)}`))
  return { text: String.raw({ raw: parts }, ...placed), values }
}

export type Row = Readonly<Record<string, unknown>>

export interface Queries {
  query<T = Row>(statement: Statement): Promise<readonly T[]>
}

/** What the store needs of an engine. Both speak the same PostgreSQL. */
export interface Database extends Queries {
  /** One connection; rolled back when `work` throws. `snapshot`: everything read is of one instant. */
  transaction<T>(work: (inside: Queries) => Promise<T>, isolation?: 'snapshot'): Promise<T>
  close(): Promise<void>
}

/** How both engines hand out int8 and timestamptz, by their numbers in PostgreSQL: no id passes 2^53. */
export const PARSERS = { 20: Number, 1184: (text: string) => new Date(text).toISOString() }

/** Values of any shape travel as one JSON text: `${json(x)}::text::jsonb`. */
export const json = (value: unknown): string => JSON.stringify(value)

/** Of one row more than the page holds: where it is there, the last on the page leads to the next one. */
export function pageOf<T>(rows: readonly T[], limit: number, nameOf: (last: T) => string | number): Paged<T> {
  const items = rows.slice(0, limit)
  return { items, next: rows.length > limit ? String(nameOf(items.at(-1)!)) : null }
}
