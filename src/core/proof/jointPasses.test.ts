import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toHex } from '../bytes/hex.ts'
import { JointPasses } from './jointPasses.ts'
import { jointPassWords } from './seeds.ts'

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('attack 465: in whatever order devices come to a pass, none goes on before all have read, and all go on alike', async () => {
  const cases = fc.record({
    start: hash,
    roots: fc
      .tuple(fc.integer({ min: 2, max: 5 }), fc.integer({ min: 1, max: 5 }))
      .chain(([devices, passes]) =>
        fc.array(fc.array(hash, { minLength: passes, maxLength: passes }), { minLength: devices, maxLength: devices }),
      ),
    scheduler: fc.scheduler(),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ start, roots, scheduler }) => {
      const joint = new JointPasses(roots.length)
      const committed = roots.map(() => 0)
      const words = roots.map(async (own, place) => {
        const known: Uint8Array[] = [start]
        for (const [pass, root] of own.entries()) {
          await scheduler.schedule(Promise.resolve())
          joint.put(place, pass, root)
          committed[place] = pass + 1
          if (pass === own.length - 1) break
          await joint.over(pass, new AbortController().signal)
          expect(Math.min(...committed)).toBeGreaterThan(pass)
          known.push(joint.next(known[pass]!, pass))
        }
        return known.map(toHex)
      })
      const all = await scheduler.waitFor(Promise.all(words))
      const expected = jointPassWords(start, roots).map(toHex)
      for (const one of all) expect(one).toEqual(expected)
    }),
  )
})

test('who blocks a thread for a pass is told when it is over, by a view of the same memory', () => {
  const joint = new JointPasses(2)
  const elsewhere = new JointPasses(2, joint.shared)
  const root = (value: number) => new Uint8Array(32).fill(value)
  joint.put(0, 0, root(1))
  expect(elsewhere.waitFor(0, 1)).toBe(false)
  elsewhere.put(1, 0, root(2))
  expect(joint.waitFor(0, 1)).toBe(true)
  expect(joint.next(root(0), 0)).toEqual(elsewhere.next(root(0), 0))
})
