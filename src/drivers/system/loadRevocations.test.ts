import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fromHex } from '../../core/bytes/hex.ts'
import { type Revocations, standingOf, withSuccessors } from '../../core/certificate/signers.ts'
import { loadRevocations } from './loadRevocations.ts'

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
const both = (own: Revocations, named: Revocations) => {
  listed('revoked.json', own)
  const all = loadRevocations(listed('named.json', named), home)
  return { all, trusted: withSuccessors([bytes], all).length - 1, on: (day: number) => standingOf(bytes, at(day), all) }
}

describe('attack 293: a list that is named', () => {
  test('hides nobody whom the reader has in his own', () => {
    expect(both([revoked(2)], []).on(3)).toBe('bad')
    expect(both([], [revoked(2)]).on(3)).toBe('bad')
  })

  test('and his own: of two times the earlier counts', () => {
    expect(both([revoked(2)], [revoked(4)]).on(3)).toBe('bad')
    expect(both([revoked(4)], [revoked(2)]).on(3)).toBe('bad')
    expect(both([rotated(first, 2)], [rotated(first, 4)])).toMatchObject({ trusted: 1 })
  })

  test.each([
    ['revoked by one of them', revoked(4), rotated(first, 2)],
    ['that has another successor in each', rotated(first, 2), rotated(second, 4)],
  ])('and his own: a key %s was revoked, from the earlier time on', (_, one, other) => {
    for (const { trusted, on } of [both([one], [other]), both([other], [one])])
      expect([trusted, on(1), on(3)]).toEqual([0, 'doubtful', 'bad'])
  })

  test('leaves what is in one of them alone as it is there', () => {
    const { all, trusted } = both([rotated(first, 2)], [{ ...revoked(3), key: second }])
    expect([all.length, trusted]).toEqual([2, 1])
  })

  test('is no way round a list of his own that cannot be read', () => {
    writeFileSync(join(home, 'revoked.json'), '{}')
    expect(() => loadRevocations(listed('named.json', []), home)).toThrow(
      expect.objectContaining({ detail: expect.objectContaining({ code: 'REVOCATIONS_UNREADABLE' }) }),
    )
  })
})
