import * as z from 'zod'
import { equalBytes } from '../core/bytes/bytes.ts'
import { MAX_DEVICES } from '../core/params/constants.ts'
import { requireForm } from '../core/params/requireForm.ts'
import { type Challenge, decodeChallenge, encodeChallenge } from '../core/proof/challenge.ts'
import { devicesOf } from '../core/proof/part.ts'
import { kindOf } from '../core/proof/partKinds.ts'
import { nonceHash } from '../core/proof/seeds.ts'
import type { OpeningRange, Run } from '../core/proof/verifyPart.ts'

const bytes = z.instanceof(Uint8Array)
const word = bytes.refine(({ length }) => length === 32)
/** Microseconds. Before T0 is an answer that is refused with a code of its own. */
const moment = z.int()

const part = z.object({
  s: word,
  z: word.nullable(),
  zSentUs: moment.nullable(),
  nonce: word,
  devices: z
    .array(
      z.object({
        device: z
          .int()
          .min(0)
          .max(MAX_DEVICES - 1),
        roots: z.array(word),
        arrivalsUs: z.array(moment),
        openings: bytes,
      }),
    )
    .max(MAX_DEVICES),
})

/** A challenge that is not what its own bytes say would ask for less than was signed: for no opening, for example. */
export function requireChallenge(challenge: Challenge): void {
  const read = readBack(challenge)
  if (read === null || !isSame(challenge, read)) throw new RangeError('challenge is not of the documented form')
}

function readBack(challenge: Challenge): Challenge | null {
  try {
    return decodeChallenge(encodeChallenge(challenge))
  } catch {
    return null
  }
}

/** Value for value, and nothing beside. */
function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return equalBytes(a, b)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const [one, other] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => isSame(one[name], other[name]))
}

export function requireRun(run: Run): void {
  requireForm(z.object({ challenge: z.unknown(), parts: z.array(part).min(1) }), run, 'run')
  requireChallenge(run.challenge)
  if (run.parts.length > run.challenge.parts.length) throw new RangeError('run.parts: more than were asked for')
  for (const p of run.parts.keys()) requireCommitted(run, p)
}

/** A nonce of another's choice draws what he likes (attack 452); a clock of its own goes with Z_0, and with nothing else. */
function requireCommitted({ challenge, parts }: Run, p: number): void {
  const [asked, { nonce, z, zSentUs }] = [challenge.parts[p]!, parts[p]!]
  if (!equalBytes(nonceHash(nonce), asked.nonceHash))
    throw new RangeError(`run.parts.${p}.nonce: not the committed one`)
  const hasZ = kindOf(asked).phases.length > 1
  if ((z !== null) !== hasZ || (zSentUs !== null) !== hasZ)
    throw new RangeError(`run.parts.${p}.z: ${hasZ ? 'missing' : 'in a part without passes'}`)
}

/** A part of a run that ran. */
export function requirePart({ parts }: Run, p: number): void {
  requireForm(
    z
      .int()
      .min(0)
      .max(parts.length - 1),
    p,
    'part',
  )
}

const range = z
  .object({ part: z.int().min(0), device: z.int().min(0), from: z.int().min(0), to: z.int() })
  .refine(({ from, to }) => from < to)

/** In an empty range nothing is wrong. */
export const requireRanges = (ranges: readonly OpeningRange[]): void => requireForm(z.array(range), ranges, 'ranges')

export function requireRange(run: Run, given: OpeningRange): void {
  requireRanges([given])
  requirePart(run, given.part)
  const asked = run.challenge.parts[given.part]!
  if (!devicesOf(asked).includes(given.device) || given.to > asked.openings)
    throw new RangeError('range: not one of this run')
}

export const requireCount = (count: number): void => requireForm(z.int().min(1), count, 'count')
