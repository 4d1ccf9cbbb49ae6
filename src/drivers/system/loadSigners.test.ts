import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import { countSigners, type Revocations, standingOf } from '../../core/certificate/signers.ts'
import { loadSigners } from './loadSigners.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'touchstone-revoked-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const [key, first, second] = ['11', '22', '33'].map((byte) => byte.repeat(32)) as [string, string, string]
const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`
const rotated = (successor: string, day: number) => ({ key, status: 'rotated', since: at(day), successor }) as const
const revoked = (day: number) => ({ key, status: 'revoked', since: at(day) }) as const
const listed = (name: string, keys: Revocations): string => {
  writeFileSync(join(home, name), JSON.stringify({ version: 1, keys }))
  return join(home, name)
}
const bytes = fromHex(key, 32)!
const both = (own: Revocations, named: Revocations, given = [bytes]) => {
  listed('revoked.json', own)
  const { trusted, successorOf, revocations } = loadSigners(given, listed('named.json', named), home)
  const on = (day: number) => standingOf(bytes, at(day), revocations)
  return { revocations, successors: trusted.slice(given.length).map(toHex), successorOf, on }
}

describe('attack 293: a list that is named', () => {
  test('hides nobody whom the reader has in his own', () => {
    expect(both([revoked(2)], []).on(3)).toBe('bad')
    expect(both([], [revoked(2)]).on(3)).toBe('bad')
  })

  test('and his own: of two times the earlier counts', () => {
    expect(both([revoked(2)], [revoked(4)]).on(3)).toBe('bad')
    expect(both([revoked(4)], [revoked(2)]).on(3)).toBe('bad')
    expect(both([rotated(first, 2)], [rotated(first, 4)])).toMatchObject({ successors: [first] })
  })

  test.each([
    ['revoked by one of them, or rotated and revoked in one (attacks 395, 406)', revoked(4), rotated(first, 2)],
    ['that has another successor in each', rotated(first, 2), rotated(second, 4)],
  ])('and his own: a key %s was revoked, from the earlier time on', (_, one, other) => {
    const lists = [both([one], [other]), both([other], [one]), both([one, other], []), both([one, other], [one, other])]
    for (const { successors, on } of lists) expect([successors, on(1), on(3)]).toEqual([[], 'doubtful', 'bad'])
  })

  test('leaves what is in one of them alone as it is there', () => {
    const { revocations, successors } = both([rotated(first, 2)], [{ ...revoked(3), key: second }])
    expect([revocations.length, successors]).toEqual([2, [first]])
  })

  test('is no way round a list of his own that cannot be read', () => {
    writeFileSync(join(home, 'revoked.json'), '{}')
    expect(() => loadSigners([bytes], listed('named.json', []), home)).toThrow(
      expect.objectContaining({ detail: expect.objectContaining({ code: 'REVOCATIONS_UNREADABLE' }) }),
    )
  })
})

describe('attack 366: a list that is named', () => {
  const next = { ...rotated(second, 3), key: first }

  test('ends the keys in it, and gives trust to no successor, also behind one of the reader', () => {
    const { successors, on } = both([], [rotated(first, 4)])
    expect([successors, on(3), on(4)]).toEqual([[], 'good', 'bad'])
    expect(both([rotated(first, 2)], [next]).successors).toEqual([first])
  })

  test('makes no two signers of keys that are one by the list of the reader', () => {
    const ends = [bytes, fromHex(second, 32)!]
    for (const named of [[], [{ ...revoked(9), key: first }], [{ ...rotated(key, 9), key: first }]])
      expect(countSigners(ends, both([rotated(first, 2), next], named, ends).revocations)).toBe(1)
    expect(countSigners(ends, both([], [rotated(second, 2)], ends).revocations)).toBe(1)
  })

  test('the successors in his own count, each told with the key that he named', () => {
    const { successors, successorOf } = both([rotated(first, 2), next], [])
    expect(successors).toEqual([first, second])
    expect([...successorOf]).toEqual(successors.map((successor) => [successor, key]))
    expect(both([rotated(first, 2)], [], [bytes, fromHex(first, 32)!]).successorOf.size).toBe(0)
  })
})
