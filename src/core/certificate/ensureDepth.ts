import { DecodeError } from '../bytes/reader.ts'

/** Refuses JSON nested deeper than `limit` before a parser builds it: depth is paid for in memory. */
export function ensureDepth(json: Uint8Array, limit: number): void {
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]!
    if (inString) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === BRACE || byte === BRACKET) {
      if (++depth > limit) throw new DecodeError(`JSON: nested deeper than ${limit}`)
    } else if (byte === BRACE_END || byte === BRACKET_END) depth--
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACE = 0x7b
const BRACE_END = 0x7d
const BRACKET = 0x5b
const BRACKET_END = 0x5d
