import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the committed contract has its checksum, and was built from the committed source', () => {
  const read = (name: string) => readFileSync(new URL(`../contracts/${name}`, import.meta.url))
  const sum = (name: string) => createHash('sha256').update(read(name)).digest('hex')
  const lines = read('built/SHA256SUMS').toString().trim().split('\n')
  expect(lines).toEqual([
    `${sum('built/TouchstoneRounds.json')}  TouchstoneRounds.json`,
    `${sum('TouchstoneRounds.sol')}  ../TouchstoneRounds.sol`,
  ])
})
