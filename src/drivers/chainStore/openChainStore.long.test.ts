import { randomBytes } from 'node:crypto'
import { rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chainKillSuite } from '../../../test/suites/chainKillSuite.ts'
import { branchOf, GENESIS } from '../../../test/support/chainRows.ts'
import { smallDisk } from '../../../test/support/smallDisk.ts'
import { openChainStore } from './openChainStore.ts'

chainKillSuite(40, 40)

test('a full disk: what was written stays, and with room again it goes on without a restart', async ({ skip }) => {
  const disk = smallDisk(skip)
  const store = await openChainStore(join(disk, 'chain'), GENESIS)
  const rows = branchOf('a', 40).map((row) => ({ ...row, bytes: randomBytes(500_000) }))
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize - 9_000_000))
  const put = async (row: (typeof rows)[number]) =>
    await store.write({ blocks: [row], states: [], head: row.facts.id, final: GENESIS })
  let refused = 0
  for (const row of rows) {
    try {
      await put(row)
    } catch (error) {
      expect(error).toMatchObject({ detail: { code: 'CHAIN_NOT_WRITTEN' }, retry: true })
      expect(store.head.height).toBe(row.facts.height - 1)
      if (refused++ === 0) rmSync(join(disk, 'ballast'))
      await put(row)
    }
    if (row.facts.height === 20) break
  }
  expect(refused).toBeGreaterThan(0)
  expect(store.head.height).toBe(20)
  await store.close()
  const again = await openChainStore(join(disk, 'chain'), GENESIS)
  expect(again.head.height).toBe(20)
  await again.close()
})
