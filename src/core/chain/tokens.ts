import { UNITS_PER_TOKEN } from './params.ts'

const DIGITS = 9

/** An amount as people write it, such as 12.5, in units; null where it is not one, or has more than nine digits behind the point. */
export function parseTokens(text: string): bigint | null {
  const [, whole, part = ''] = /^(0|[1-9][0-9]{0,9})(?:\.([0-9]{1,9}))?$/.exec(text) ?? []
  return whole === undefined ? null : BigInt(whole) * UNITS_PER_TOKEN + BigInt(part.padEnd(DIGITS, '0'))
}

/** Units as people read them, without zeros at the end. */
export function formatTokens(units: bigint): string {
  const part = String(units % UNITS_PER_TOKEN)
    .padStart(DIGITS, '0')
    .replace(/0+$/, '')
  return `${units / UNITS_PER_TOKEN}${part === '' ? '' : `.${part}`}`
}
