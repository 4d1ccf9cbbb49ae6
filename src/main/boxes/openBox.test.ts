import { expect, test } from 'vitest'
import { placeOf } from './openBox.ts'

const key = 'ab'.repeat(32)

test.each([
  ['over SSH', ['root@a.test', 'ssh://root@a.test', 'root@A.test:22', 'ssh -p 22 root@a.test'], 'root@a.test:2222'],
  ['by number', ['root@192.0.2.7', 'ssh://root@192.0.2.007:22'], 'root@192.0.2.8'],
  ['that is leased', [`lease://h.test:7878#${key}`, `lease://hub#${key}`], `lease://h.test:7878#${'cd'.repeat(32)}`],
])('a box %s is one, however its address is written', async (_, spellings, other) => {
  const placesOf = async (...addresses: readonly string[]) =>
    new Set(await Promise.all(addresses.map((address) => placeOf(address, new AbortController().signal)))).size
  expect(await placesOf(...spellings)).toBe(1)
  expect(await placesOf(spellings[0]!, other)).toBe(2)
})
