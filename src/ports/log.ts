export type LogValue = string | number | boolean | null

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Message and fields. Messages are ours; fields are codes, ids and numbers, never a prover's own words. */
export type Log = Readonly<Record<LogLevel, (message: string, fields?: Readonly<Record<string, LogValue>>) => void>>
