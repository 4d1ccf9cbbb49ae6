export type LogValue = string | number | boolean | null

/** Message and fields. Messages are ours; fields are codes, ids and numbers, never a prover's own words. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, LogValue>>): void
  info(message: string, fields?: Readonly<Record<string, LogValue>>): void
  warn(message: string, fields?: Readonly<Record<string, LogValue>>): void
  error(message: string, fields?: Readonly<Record<string, LogValue>>): void
}
