import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChainStore, ChainWrite } from '../../src/ports/chainStore.ts'
import { branchOf, bytesOf, GENESIS, idOf } from '../support/chainRows.ts'

type Rows = ChainWrite['blocks']
const idsOf = (rows: Rows) => rows.map(({ facts }) => facts.id)
const tipOf = (rows: Rows) => rows.at(-1)!.facts

/** What every store of a chain promises; each driver runs all of it. `open` gives a new store of the made-up genesis. */
export function chainStoreSuite(name: string, open: () => Promise<ChainStore>): void {
  describe(`chain store: ${name}`, () => {
    const opened = async (work: (store: ChainStore) => Promise<void>) => {
      const store = await open()
      try {
        await work(store)
      } finally {
        await store.close()
      }
    }
    const write = (store: ChainStore, blocks: Rows, more: Partial<ChainWrite> = {}) =>
      store.write({
        blocks,
        states: [],
        head: blocks.at(-1)?.facts.id ?? store.head.id,
        final: store.final.id,
        ...more,
      })

    test('begins with the genesis, which has a place and no bytes', () =>
      opened(async (store) => {
        expect([store.head, store.final]).toEqual([
          { id: GENESIS, height: 0 },
          { id: GENESIS, height: 0 },
        ])
        expect(await store.idAt(0)).toBe(GENESIS)
        expect(await store.facts(GENESIS)).toMatchObject({ height: 0, slot: 0, win: null })
        expect(await store.block(GENESIS)).toBeNull()
        expect(await store.above(0)).toEqual([])
      }))

    test('gives back what was written, and null for what was not', () =>
      opened(async (store) => {
        const rows = branchOf('a', 5)
        await write(store, rows)
        for (const { facts, bytes } of rows) {
          expect(await store.facts(facts.id)).toEqual(facts)
          expect(await store.block(facts.id)).toEqual(bytes)
          expect(await store.idAt(facts.height)).toBe(facts.id)
        }
        expect(await store.above(2)).toEqual(rows.slice(2).map(({ facts }) => facts))
        const none = idOf('none')
        expect([await store.facts(none), await store.block(none), await store.state(none)]).toEqual([null, null, null])
        expect(await store.idAt(6)).toBeNull()
      }))

    test('begins with a block that people vouch for, once, and goes on from it', () =>
      opened(async (store) => {
        const rows = branchOf('a', 6)
        const [start, next] = [rows[3]!, rows[4]!]
        await store.adopt({ ...start, state: bytesOf(idOf('state'), 100) })
        expect([store.head, store.final].map(({ height }) => height)).toEqual([4, 4])
        expect([await store.idAt(4), await store.idAt(3)]).toEqual([start.facts.id, null])
        expect(await store.withState()).toEqual([{ id: start.facts.id, height: 4 }])
        await write(store, [next])
        expect(store.head.height).toBe(5)
        await expect(store.adopt({ ...start, state: new Uint8Array(1) })).rejects.toThrow(RangeError)
      }))

    test('forgets what lies below a final block, and nothing above it', () =>
      opened(async (store) => {
        const rows = branchOf('a', 6)
        await write(store, rows, { final: rows[3]!.facts.id })
        await store.forgetBelow(3)
        for (const { facts } of rows.slice(0, 2))
          expect([await store.block(facts.id), await store.facts(facts.id), await store.idAt(facts.height)]).toEqual([
            null,
            null,
            null,
          ])
        for (const { facts, bytes } of rows.slice(2)) expect(await store.block(facts.id)).toEqual(bytes)
        await expect(store.forgetBelow(5)).rejects.toThrow(RangeError)
      }))

    test('keeps small notes with the write they came with', () =>
      opened(async (store) => {
        expect(await store.note('votes')).toBeNull()
        await write(store, branchOf('a', 1), { notes: { votes: Uint8Array.of(1), lock: Uint8Array.of(2) } })
        await write(store, [], { notes: { lock: null } })
        expect([await store.note('votes'), await store.note('lock')]).toEqual([Uint8Array.of(1), null])
      }))

    test('what is handed in may change afterwards', () =>
      opened(async (store) => {
        const rows = branchOf('a', 1)
        await write(store, rows)
        rows[0]!.bytes.fill(0)
        expect(await store.block(tipOf(rows).id)).toEqual(bytesOf(tipOf(rows).id))
      }))

    test('a head on another branch renames every height from the fork on, to a longer and to a shorter branch', () =>
      opened(async (store) => {
        const trunk = branchOf('trunk', 3)
        const [short, long] = [branchOf('short', 2, tipOf(trunk)), branchOf('long', 4, tipOf(trunk))]
        await write(store, [...trunk, ...short])
        const named = async () => await Promise.all(Array.from({ length: 9 }, (_, i) => store.idAt(i)))
        const expected = (rows: Rows) => Array.from({ length: 9 }, (_, i) => [GENESIS, ...idsOf(rows)][i] ?? null)
        await write(store, long)
        expect(await named()).toEqual(expected([...trunk, ...long]))
        await write(store, [], { head: tipOf(short).id })
        expect(await named()).toEqual(expected([...trunk, ...short]))
        expect((await store.above(3)).length).toBe(6)
      }))

    test('of states up to the last final block only the newest of its branch stays', () =>
      opened(async (store) => {
        const [rows, fork] = [branchOf('a', 6), branchOf('fork', 2)]
        const ids = idsOf(rows)
        const state = (id: string) => ({ id, bytes: bytesOf(id, 99) })
        const states = [ids[0]!, ids[2]!, ids[4]!, ...idsOf(fork)].map(state)
        await write(store, [...fork, ...rows], { states })
        await write(store, [], { final: ids[3]! })
        const kept = async () =>
          (await Promise.all([...ids, ...idsOf(fork)].map(async (id) => ((await store.state(id)) ? id : '')))).filter(
            (id) => id !== '',
          )
        expect(await kept()).toEqual([ids[2], ids[4]])
        expect(await store.state(ids[2]!)).toEqual(bytesOf(ids[2]!, 99))
        await write(store, [], { final: ids[5]! })
        expect(await kept()).toEqual([ids[4]])
      }))

    test('a write that does not fit changes nothing', () =>
      opened(async (store) => {
        const [first, second, ...rest] = branchOf('a', 4)
        await write(store, [first!])
        const unfit: Partial<ChainWrite>[] = [
          { blocks: rest },
          { blocks: [{ ...second!, facts: { ...second!.facts, height: 7 } }], head: second!.facts.id },
          { blocks: [second!], head: idOf('none') },
          { blocks: [second!], final: idOf('none') },
          { blocks: [second!], states: [{ id: idOf('none'), bytes: bytesOf(GENESIS) }] },
        ]
        for (const more of unfit) await expect(write(store, more.blocks!, more)).rejects.toThrow(RangeError)
        expect(store.head).toEqual({ id: first!.facts.id, height: 1 })
        expect(await store.above(1)).toEqual([])
      }))

    test('any tree, any heads: the names by height are the branch of the head', () =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 12 }), (steps) =>
          opened(async (store) => {
            const known = [{ id: GENESIS, height: 0, parent: '' }]
            for (const [i, [on, at]] of steps.entries()) {
              const rows = branchOf(`step${i}/`, 1 + (on % 3), known[on % known.length])
              known.push(...rows.map(({ facts }) => facts))
              await write(store, rows, { head: known[at % known.length]!.id })
            }
            let id = store.head.id
            expect(await store.idAt(store.head.height + 1)).toBeNull()
            for (let height = store.head.height; height >= 0; height--) {
              expect(await store.idAt(height)).toBe(id)
              id = known.find((row) => row.id === id)!.parent
            }
          }),
        ),
        { numRuns: 12 },
      ))
  })
}
