import { expect, test } from 'vitest'
import { inTime } from './inTime.ts'

const never = new Promise<never>(() => {})

test('what comes in time counts, whether it is a value or a fault', async () => {
  expect(await inTime(Promise.resolve(1), 60_000, () => 2)).toBe(1)
  await expect(inTime(Promise.reject(new Error('broken')), 60_000, () => 2)).rejects.toThrow('broken')
})

test('what is late is replaced by a value or a fault', async () => {
  expect(await inTime(never, 1, () => 2)).toBe(2)
  const late = () => {
    throw new Error('late')
  }
  await expect(inTime(never, 1, late)).rejects.toThrow('late')
})

test('an abort rejects with its reason, also one from before', async () => {
  const stop = new AbortController()
  const waiting = inTime(never, 60_000, () => 2, stop.signal)
  stop.abort(new Error('interrupted'))
  await expect(waiting).rejects.toThrow('interrupted')
  await expect(inTime(never, 60_000, () => 2, stop.signal)).rejects.toThrow('interrupted')
})
