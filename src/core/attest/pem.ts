import { fromBase64 } from '../bytes/base64.ts'
import { malformed, refuse } from './refusals.ts'

const BEGIN = '-----BEGIN CERTIFICATE-----'
const END = '-----END CERTIFICATE-----'

/** Longest line of base64 in a file of certificates. */
const LONGEST_LINE = 76

/** No pattern: one that is tried at every place takes seconds for a page of line ends (attack 386). */
function withoutLastEnds(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '\n') end -= text[end - 2] === '\r' ? 2 : 1
  return text.slice(0, end)
}

/** Certificates one after the other as PEM: nothing beside them but line ends. Some tools end the text with a zero. */
export function readPem(bytes: Uint8Array, most: number): Uint8Array[] {
  const text = new TextDecoder('latin1').decode(bytes).replace(/\0$/, '')
  const found: Uint8Array[] = []
  let lines: string[] | null = null
  for (const line of withoutLastEnds(text).split(/\r?\n/)) {
    if (line === BEGIN && lines === null) lines = []
    else if (line === END && lines !== null) {
      found.push(decoded(lines))
      if (found.length > most) refuse('CHAIN_LENGTH', { got: 'more', expected: most })
      lines = null
    } else if (lines === null || line.length > LONGEST_LINE) malformed('certificate chain')
    else lines.push(line)
  }
  return lines === null && found.length > 0 ? found : malformed('certificate chain')
}

/** Every line but the last is full: one spelling for the same bytes. */
function decoded(lines: readonly string[]): Uint8Array {
  const width = lines[0]?.length ?? 0
  const full = lines.every((line, i) => line.length === width || (i === lines.length - 1 && line.length < width))
  return (full ? fromBase64(lines.join('')) : null) ?? malformed('certificate chain')
}
