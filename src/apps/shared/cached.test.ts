import { expect, test } from 'vitest'
import { cached } from './cached.ts'

test('one is made at a time, the old one serves until the new one is there, and a failure keeps the old one', async () => {
  let nowUs = 0
  let made = 0
  let fails = false
  const get = cached(
    async () => {
      if (fails) throw new Error('away')
      return ++made
    },
    10,
    { monotonicUs: () => nowUs },
  )
  expect(await Promise.all([get(), get(), get()])).toEqual([1, 1, 1])
  nowUs = 10_000
  expect(await Promise.all([get(), get()])).toEqual([1, 1])
  await Promise.resolve()
  expect([await get(), made]).toEqual([2, 2])
  fails = true
  nowUs = 29_999
  expect(await get()).toBe(2)
  expect(await get()).toBe(2)
})

test('after a quiet time everybody waits for a new one, and a failure is told rather than an old answer', async () => {
  let nowUs = 0
  let made = 0
  let fails = false
  const make = async () => {
    if (fails) throw new Error('away')
    return ++made
  }
  const get = cached(make, 10, { monotonicUs: () => nowUs })
  expect(await get()).toBe(1)
  nowUs = 20_000
  expect(await Promise.all([get(), get()])).toEqual([2, 2])
  nowUs = 40_000
  fails = true
  await expect(get()).rejects.toThrow('away')
})

test('the very first failure is told to those who asked', async () => {
  const get = cached(() => Promise.reject(new Error('away')), 10, { monotonicUs: () => 0 })
  await expect(get()).rejects.toThrow('away')
})
