import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteQueue } from './byteQueue.ts'

describe('ByteQueue', () => {
  test('property: every byte comes out once and in order, and the stream is never left paused', async () => {
    const step = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constant('read' as const))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 100 }), async (steps, high) => {
        let paused = false
        const queue = new ByteQueue(high, {
          pause: () => {
            expect(paused).toBe(false)
            paused = true
          },
          resume: () => {
            expect(paused).toBe(true)
            paused = false
          },
        })
        const reader = queue[Symbol.asyncIterator]()
        const [sent, got]: [number[], number[]] = [[], []]
        for (const now of steps) {
          if (now !== 'read') {
            queue.push(now)
            sent.push(...now)
            expect(paused).toBe(queue.heldBytes >= high || (paused && queue.heldBytes > high / 2))
          } else if (queue.heldBytes > 0) got.push(...((await reader.next()).value as Uint8Array))
        }
        queue.end()
        for (let next = await reader.next(); !next.done; next = await reader.next()) got.push(...next.value)
        expect(got).toEqual(sent)
        expect(paused).toBe(false)
      }),
    )
  })

  test('a waiting reader is woken by bytes and by the end', async () => {
    const queue = new ByteQueue(10, { pause: () => {}, resume: () => {} })
    const reader = queue[Symbol.asyncIterator]()
    const first = reader.next()
    queue.push(Uint8Array.of(1))
    expect((await first).value).toEqual(Uint8Array.of(1))
    const last = reader.next()
    queue.end()
    expect((await last).done).toBe(true)
  })
})
