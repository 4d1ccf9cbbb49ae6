import { canonicalJson } from '../bytes/canonicalJson.ts'
import { toHex } from '../bytes/hex.ts'
import { taggedHash } from '../bytes/sha256.ts'
import type { Catalogue } from './catalogue.ts'

/**
 * Hex SHA-256 of the parsed catalogue, for certificates: keys sorted, no spaces, numbers as JSON prints them, so that
 * comments and layout of the file do not count and every value does. Every text in it is printable ASCII.
 */
export function catalogueHash(catalogue: Catalogue): string {
  const known = hashes.get(catalogue)
  if (known !== undefined) return known
  const bytes = Uint8Array.from(canonicalJson(catalogue), (letter) => letter.charCodeAt(0))
  const hash = toHex(taggedHash('tsp1/catalogue', bytes))
  hashes.set(catalogue, hash)
  return hash
}

/** A parsed catalogue never changes, and hashing it costs more than judging a run. */
const hashes = new WeakMap<Catalogue, string>()
