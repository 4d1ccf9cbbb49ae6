import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../bytes/sha256.ts'
import { hiddenLink } from '../stateChain.ts'
import { compareReplicas, type ReplicaAnswer } from './replicas.ts'

const named = (name: string) => sha256(new TextEncoder().encode(name))
const answer = (name: string, link: string): ReplicaAnswer => {
  const [key, salt] = [named(name), named(`salt of ${name}`)]
  return { key, commitment: hiddenLink(key, salt, named(link)), opened: { salt, link: named(link) } }
}

describe('replicas', () => {
  test('agree where every one came to the same', () => {
    const verdict = compareReplicas(['ada', 'bob', 'cyd'].map((name) => answer(name, 'h')))
    expect(verdict).toMatchObject({ outcome: 'agree', dishonest: [] })
    expect(verdict.classes[0]!.keys).toHaveLength(3)
  })

  test('differ where one came to something else, however few it is', () => {
    const verdict = compareReplicas([answer('ada', 'h'), answer('bob', 'other'), answer('cyd', 'h')])
    expect(verdict.outcome).toBe('differ')
    expect(verdict.classes.map(({ keys }) => keys.length)).toEqual([2, 1])
  })

  test("attack 19: a copied commitment opens for nobody but its author, and a late answer cannot be another's", () => {
    const ada = answer('ada', 'h')
    const copier = { ...ada, key: named('bob') }
    expect(compareReplicas([ada, copier])).toMatchObject({ outcome: 'too few', dishonest: [named('bob')] })
    const { opened } = ada
    const late = { key: named('bob'), commitment: answer('bob', 'guess').commitment, opened }
    expect(compareReplicas([ada, late]).dishonest).toEqual([named('bob')])
  })

  test('one that never opens, or answers twice under one key, adds nothing', () => {
    expect(compareReplicas([answer('ada', 'h'), { ...answer('bob', 'h'), opened: null }]).outcome).toBe('too few')
    expect(compareReplicas([answer('ada', 'h'), answer('ada', 'h')]).outcome).toBe('too few')
  })

  test('are judged alike in any order', () => {
    const names = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom('h', 'i')), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(names, (pairs) => {
        const answers = pairs.map(([name, link]) => answer(name, link))
        const sizes = (of: readonly ReplicaAnswer[]) => compareReplicas(of).classes.map(({ keys }) => keys.length)
        expect(sizes([...answers].reverse())).toEqual(sizes(answers))
        expect(compareReplicas([...answers].reverse()).outcome).toBe(compareReplicas(answers).outcome)
      }),
    )
  })
})
