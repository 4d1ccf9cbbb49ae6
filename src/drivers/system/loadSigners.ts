import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import { type Revocations, revocationSchema, withSuccessors } from '../../core/certificate/signers.ts'
import { fault } from './faults.ts'
import { readRegularFile } from './readRegularFile.ts'

const MOST_BYTES = 4 * 1024 * 1024

/** Whose word a reader takes. */
export interface Signers {
  readonly trusted: readonly Uint8Array[]
  /** Of each key that is trusted as a successor, the one it took over from. */
  readonly successorOf: ReadonlyMap<string, string>
  readonly revocations: Revocations
}

/** The keys that a reader named, by his own `<home>/revoked.json` where there is one, and by the list he named too. */
export function loadSigners(given: readonly Uint8Array[], named: string | undefined, home: string): Signers {
  const own = join(home, 'revoked.json')
  // A link that leads nowhere is a list that cannot be read, not one that names nobody (attack 277).
  const kept = isThere(own) ? readList(own) : []
  const ended = named === undefined ? [] : readList(named)
  const revocations = [...kept, ...ended]
  // The named list may be anybody's: it ends keys and gives trust to none (attack 366).
  const successorOf = successorsOf(given, kept, revocations)
  return {
    trusted: [...given, ...[...successorOf.keys()].map((key) => fromHex(key, 32)!)],
    successorOf,
    revocations,
  }
}

function successorsOf(given: readonly Uint8Array[], kept: Revocations, all: Revocations): ReadonlyMap<string, string> {
  const known = new Set(given.map(toHex))
  const pairs = given.flatMap((key) =>
    withSuccessors([key], kept, all).map((next) => [toHex(next), toHex(key)] as const),
  )
  return new Map(pairs.filter(([next]) => !known.has(next)))
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    throw fault('REVOCATIONS_UNREADABLE', { path }, cause)
  }
}

function readList(path: string): Revocations {
  try {
    const read = readRegularFile(path, MOST_BYTES)
    if (typeof read === 'number') throw new Error('too large')
    return decodeJson(read, revocationSchema, 'revocations').keys
  } catch (cause) {
    throw fault('REVOCATIONS_UNREADABLE', { path }, cause)
  }
}
