/** A statement with its values apart: nothing of a value ever becomes SQL. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

export type SqlValue = string | number | boolean | null | Uint8Array

/** `sql\`select ${x}\`` makes `select $1` and [x]; values are cast in the text, so that both engines read them alike. */
export function sql(parts: TemplateStringsArray, ...values: readonly SqlValue[]): Statement {
  return { text: parts.reduce((text, part, i) => `${text}$${i}${part}`), values }
}

export type Row = Readonly<Record<string, unknown>>

export interface Queries {
  query<T extends Row = Row>(statement: Statement): Promise<readonly T[]>
}

/** What the store needs of an engine. Both speak the same PostgreSQL. */
export interface Database extends Queries {
  /** One connection; rolled back when `work` throws. `snapshot`: everything read is of one instant. */
  transaction<T>(work: (inside: Queries) => Promise<T>, isolation?: 'snapshot'): Promise<T>
  close(): Promise<void>
}

/** Values of any shape travel as one JSON text: `${json(x)}::text::jsonb`. */
export const json = (value: unknown): string => JSON.stringify(value)

/** Times leave the store in one spelling. */
export const iso = (value: unknown): string => (value as Date).toISOString()
export const isoOrNull = (value: unknown): string | null => (value === null ? null : iso(value))
