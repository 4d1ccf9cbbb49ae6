import { once } from 'node:events'
import { expect, test } from 'vitest'
import { systemClock } from './systemClock.ts'

test('a whole fleet may sleep under one signal, without a warning between the lines of a log', async () => {
  const stop = new AbortController()
  const warned: string[] = []
  const note = ({ name }: Error) => void warned.push(name)
  process.on('warning', note)
  const sleeping = Array.from({ length: 100 }, () => systemClock.sleep(60_000, stop.signal).catch(() => 'woken'))
  stop.abort()
  expect(new Set(await Promise.all(sleeping))).toEqual(new Set(['woken']))
  // Warnings come in the order they were made, after the work that made them.
  process.emitWarning('the last one')
  await once(process, 'warning')
  process.off('warning', note)
  expect(warned.filter((name) => name === 'MaxListenersExceededWarning')).toEqual([])
})
