import { InvalidArgumentError } from 'commander'
import { isPrecision, PRECISION_NAMES, type Precision } from '../core/params/precision.ts'
import { PRESETS } from '../core/params/presets.ts'
import { devicesHelp, namedDevices } from '../drivers/gpu/openDevices.ts'
import { networkList } from '../drivers/system/hostAddresses.ts'

/** Readers of option values: each refuses with a sentence, and commander makes it exit code 2. */
export function readPrecisions(text: string): Precision[] {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !isPrecision(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(`Use some of ${PRECISION_NAMES.join(', ')}, separated by commas.`)
  return PRECISION_NAMES.filter((name) => names.includes(name))
}

/** One of these words, each of which stands for something. */
export const readOneOf =
  <T>(meanings: Readonly<Record<string, T>>, use: string) =>
  (text: string): T => {
    if (!Object.hasOwn(meanings, text)) throw new InvalidArgumentError(use)
    return meanings[text]!
  }

const { tiny, devnet, mainnet } = PRESETS
export const readPreset = readOneOf({ tiny, devnet, mainnet }, 'Use tiny, devnet or mainnet.')

export const DEVICES_HELP = devicesHelp()

export function readDevices(text: string): string {
  if (text === 'auto' || namedDevices(text) !== null) return text
  throw new InvalidArgumentError(`Use ${DEVICES_HELP}.`)
}

export function readNetworks(text: string): readonly string[] {
  const networks = text.split(',')
  if (networks.every(isNetwork)) return networks
  throw new InvalidArgumentError('Use networks as 10.0.0.0/8 or 2001:db8::/32, separated by commas.')
}

export function isNetwork(text: string): boolean {
  try {
    networkList([text])
    return true
  } catch {
    return false
  }
}

export const readNumber =
  (low: number, high: number) =>
  (text: string): number => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isFinite(value) || value < low || value > high)
      throw new InvalidArgumentError(`Use a number from ${low} to ${high}.`)
    return value
  }

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** At most a year and a day, as long as a certificate can be valid. */
export function readValidity(text: string): number {
  const seconds = readDuration(text)
  if (seconds > 366 * UNITS.d!) throw new InvalidArgumentError('Use at most 366d.')
  return seconds
}

/** 90s, 15m, 24h or 7d, in seconds. */
export function readDuration(text: string): number {
  const [, digits, unit] = /^([1-9][0-9]{0,5})([smhd])$/.exec(text) ?? []
  if (unit === undefined) throw new InvalidArgumentError('Use a whole number with s, m, h or d, for example 24h.')
  return Number(digits) * UNITS[unit]!
}

export const readWhole =
  (low: number, high: number) =>
  (text: string): number => {
    const value = readNumber(low, high)(text)
    if (!Number.isInteger(value)) throw new InvalidArgumentError('Use a whole number.')
    return value
  }
