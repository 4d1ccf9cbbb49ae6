import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Answer, BoxWorld, type Execute, standInChunk } from '../../../test/support/boxWorld.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { operationsOf } from '../../core/work/drilled/productTask.ts'
import { checkBoxes } from './checkBoxes.ts'
import { CHECK_K } from './checkSizes.ts'

const world = new BoxWorld()

const orderOf = ({ publicKey }: Signer) => ({
  ...{ peer: toHex(publicKey), box: publicKey, epoch: 0n, vrfProof: world.vrfProof },
})

/** What each box showed, of what a machine has that takes so long for a chunk. */
async function shownBy(chunkMs: number, answers: ReadonlyMap<string, Answer>) {
  const deps = world.deps((peer, data) => answers.get(peer)!(data))
  const shown = await checkBoxes(deps, world.boxes(answers.size).map(orderOf))
  const whole = Number(operationsOf(CHECK_K, 0)) * (1_000 / chunkMs)
  return shown.map((checked) => (checked?.operationsPerSecond ?? 0) / whole)
}

/** Boxes on one machine that serves whichever question the schedule says, one at a time. */
function onOneMachine(count: number, chunkMs: number, schedule: () => number) {
  const waiting: { depth: number; done: () => void }[] = []
  let isWorking = false
  const work = async () => {
    if (isWorking) return
    isWorking = true
    while (waiting.length > 0) {
      const [next] = waiting.splice(schedule() % waiting.length, 1)
      await world.clock.sleep(chunkMs * 2 ** next!.depth)
      next!.done()
      // So that who was served can ask again before the next one is chosen.
      await world.clock.sleep(0)
    }
    isWorking = false
  }
  const execute: Execute = async (seed, k, depth) => {
    await new Promise<void>((done) => {
      waiting.push({ depth, done })
      void work()
    })
    return Array.from({ length: 2 ** depth }, (_, index) => standInChunk(seed, k, index))
  }
  return new Map(
    world.boxes(count).map((box) => {
      const server = world.server(box, execute)
      return [toHex(box.publicKey), (data: Uint8Array) => server.answer(data)] as const
    }),
  )
}

const sum = (parts: readonly number[]) => parts.reduce((all, part) => all + part, 0)

describe('one window for all boxes', () => {
  test('a machine of its own shows nearly all that it has, near and 100 ms away', async () => {
    for (const chunkMs of [1, 40])
      for (const wayMs of [0, 50]) {
        const [box] = world.boxes(1)
        const server = world.server(box!, world.machine(chunkMs))
        const answer = async (data: Uint8Array) => {
          await world.clock.sleep(wayMs)
          const told = await server.answer(data)
          await world.clock.sleep(wayMs)
          return told
        }
        const [shown] = await shownBy(chunkMs, new Map([[toHex(box!.publicKey), answer]]))
        expect([chunkMs, wayMs, shown! > (wayMs === 0 ? 0.85 : 0.6), shown! <= 1]).toEqual([chunkMs, wayMs, true, true])
      }
  })

  test('a slow machine loses no more than the product that is unfinished at the end: none is left over from its sizing', async () => {
    for (const chunkMs of [130, 180, 240, 260, 340, 510]) {
      const [box] = world.boxes(1)
      const server = world.server(box!, world.machine(chunkMs))
      const [shown] = await shownBy(chunkMs, new Map([[toHex(box!.publicKey), (data) => server.answer(data)]]))
      expect(Math.round((shown! * 1_000) / chunkMs)).toBe(Math.floor(1_000 / chunkMs))
    }
  })

  test('attacks 307 and 308: boxes on one machine show it once together, in whatever order it serves them', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.constantFrom(3, 30, 110),
      fc.array(fc.nat({ max: 15 }), { minLength: 1, maxLength: 12 }),
      async (count, chunkMs, order) => {
        let turn = 0
        const answers = onOneMachine(count, chunkMs, () => order[turn++ % order.length]!)
        expect(sum(await shownBy(chunkMs, answers))).toBeLessThanOrEqual(1)
      },
    )
    await fc.assert(property, { numRuns: 15, seed: 1 })
  })

  test('attack 307: who puts a validator off for another box shows nothing', async () => {
    let served: string | null = null
    const answers = [...onOneMachine(4, 10, () => 0)].map(([name, answer]) => {
      const lying: Answer = async (data) => {
        served ??= data[0] === 7 ? name : null
        return data[0] === 7 && served !== name ? Uint8Array.of(1) : await answer(data)
      }
      return [name, lying] as const
    })
    const shown = await shownBy(10, new Map(answers))
    expect(shown.map((part) => part > 0.8)).toEqual([true, false, false, false])
    expect(sum(shown)).toBeLessThanOrEqual(1)
  })

  test('attack 310: nothing is opened or computed again before all clocks have stopped, and of garbage one chunk', async () => {
    const boxes = world.boxes(4)
    const [honest] = boxes
    const answers = boxes.map((box) => {
      const server = world.server(box, world.machine(5, box === honest ? standInChunk : () => new Uint8Array(32)))
      let rounds = 0
      // Liars are done long before the window ends.
      const answer: Answer = async (data) =>
        box !== honest && data[0] === 7 && ++rounds > 8 ? new Uint8Array(0) : await server.answer(data)
      return [toHex(box.publicKey), answer] as const
    })
    const byPeer = new Map(answers)
    let steps = ''
    const deps = world.deps((peer, data) => {
      steps += data[0]
      return byPeer.get(peer)!(data)
    })
    const chunkAt = async (...asked: Parameters<typeof standInChunk>) => {
      steps += 'c'
      return standInChunk(...asked)
    }
    const shown = await checkBoxes({ ...deps, chunkAt }, boxes.map(orderOf))
    expect(shown.map((checked) => checked !== null)).toEqual([true, false, false, false])
    expect(steps).toMatch(/^6+7+[8c9]+$/)
    expect(steps.replaceAll(/[^c]/g, '')).toHaveLength(8 + 3)
  })
})
