import { type Command, InvalidArgumentError, type Option } from 'commander'
import { fromHex } from '../core/bytes/hex.ts'
import { isPrecision, PRECISION_NAMES } from '../core/params/precision.ts'
import { PRESETS } from '../core/params/presets.ts'
import { devicesHelp, namedDevices } from '../drivers/gpu/openDevices.ts'
import { networkList } from '../drivers/system/hostAddresses.ts'

/** A reader of an option's value: what it cannot read is refused with a sentence, and commander makes it exit code 2. */
export const reader =
  <T>(use: string, read: (text: string) => T | null | undefined) =>
  (text: string): T => {
    const value = read(text)
    if (value === undefined || value === null) throw new InvalidArgumentError(use)
    return value
  }

export const readPrecisions = reader(`Use some of ${PRECISION_NAMES.join(', ')}, separated by commas.`, (text) => {
  const names = text.split(',').map((name) => name.trim())
  return names.every(isPrecision) ? PRECISION_NAMES.filter((name) => names.includes(name)) : null
})

/**
 * Whoever gives an option expects that it does something: those that do nothing in the chosen mode are refused. `names` are
 * as in the flags, `when` ends the sentence.
 */
export function refuseUnused(command: Command, names: readonly string[], when: string): void {
  const given = names.find((name) => command.getOptionValueSource(name) === 'cli')
  const option = command.options.find((one) => one.attributeName() === given)
  if (option !== undefined) command.error(`error: option '${option.flags}' does nothing ${when}`)
}

/** A public key, or any 32 bytes. */
export const readKey = reader('Use 64 hex digits.', (text) => fromHex(text.toLowerCase(), 32))

const COLLECTORS = new WeakSet<object>()

/** A reader for an option that may be repeated; every other one counts once, and is refused when it is given again. */
export function repeated<T>(read: (text: string) => T) {
  const add = (text: string, before: readonly T[] = []): readonly T[] => [...before, read(text)]
  COLLECTORS.add(add)
  return add
}

export const isRepeated = ({ parseArg }: Option): boolean => parseArg !== undefined && COLLECTORS.has(parseArg)

export const addText = repeated((text) => text)
export const addKey = repeated(readKey)

/** One of these words, each of which stands for something. */
export const readOneOf = <T>(meanings: Readonly<Record<string, T>>, use: string) =>
  reader(use, (text) => (Object.hasOwn(meanings, text) ? meanings[text] : null))

const { tiny, devnet, mainnet } = PRESETS
export const readPreset = readOneOf({ tiny, devnet, mainnet }, 'Use tiny, devnet or mainnet.')

export const DEVICES_HELP = devicesHelp()

export const readDevices = reader(`Use ${DEVICES_HELP}.`, (text) =>
  text === 'auto' || namedDevices(text) !== null ? text : null,
)

/** Several of a kind, separated by commas. */
export const readList = (use: string, isOne: (text: string) => boolean) =>
  reader(use, (text): readonly string[] | null => (text.split(',').every(isOne) ? text.split(',') : null))

export const readNetworks = readList('Use networks as 10.0.0.0/8 or 2001:db8::/32, separated by commas.', isNetwork)

export function isNetwork(text: string): boolean {
  try {
    networkList([text])
    return true
  } catch {
    return false
  }
}

export const readNumber = (low: number, high: number) =>
  reader(`Use a number from ${low} to ${high}.`, (text) => {
    const value = Number(text)
    return text.trim() !== '' && value >= low && value <= high ? value : null
  })

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** 90s, 15m, 24h or 7d, in seconds. */
export const readDuration = reader('Use a whole number with s, m, h or d, for example 24h.', (text) => {
  const [, digits, unit] = /^([1-9][0-9]{0,5})([smhd])$/.exec(text) ?? []
  return unit === undefined ? null : Number(digits) * UNITS[unit]!
})

/** At most a year and a day, as long as a certificate can be valid. */
export const readValidity = reader('Use at most 366d.', (text) => {
  const seconds = readDuration(text)
  return seconds <= 366 * UNITS.d! ? seconds : null
})

export const readWhole = (low: number, high: number) =>
  reader('Use a whole number.', (text) => {
    const value = readNumber(low, high)(text)
    return Number.isInteger(value) ? value : null
  })
