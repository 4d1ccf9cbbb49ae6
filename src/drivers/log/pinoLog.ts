import { type DestinationStream, pino } from 'pino'
import { printable } from '../../core/bytes/printable.ts'
import type { Log, LogLevel, LogValue } from '../../ports/log.ts'

/** One JSON object a line on standard output. Every text is made printable and short here, in one place. */
export function pinoLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: asName } }
  const logger = destination ? pino(options, destination) : pino(options)
  const at =
    (name: LogLevel) =>
    (message: string, fields: Readonly<Record<string, LogValue>> = {}) =>
      logger[name](clean(fields), message)
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

const asName = (label: string) => ({ level: label })

const clean = (fields: Readonly<Record<string, LogValue>>): Record<string, LogValue> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? printable(value, 200) : value]),
  )
