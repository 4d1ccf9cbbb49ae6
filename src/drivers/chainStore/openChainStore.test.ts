import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chainKillSuite } from '../../../test/suites/chainKillSuite.ts'
import { chainStoreSuite } from '../../../test/suites/chainStoreSuite.ts'
import { branchOf, GENESIS, idOf } from '../../../test/support/chainRows.ts'
import { temporaryFolder } from '../../../test/support/temporaryFolder.ts'
import { openChainStore, openMemoryChain } from './openChainStore.ts'

chainStoreSuite('memory', () => openMemoryChain(GENESIS))
chainStoreSuite('LevelDB', () => openChainStore(join(temporaryFolder(), 'chain'), GENESIS))
// More of them: openChainStore.long.test.ts.
chainKillSuite(3, 12)

/** A folder with a chain of 30 blocks, in a table file and not only in the log of the last writes. */
async function chainFolder(): Promise<string> {
  const folder = join(temporaryFolder(), 'chain')
  const rows = branchOf('a', 30)
  const store = await openChainStore(folder, GENESIS)
  await store.write({ blocks: rows, states: [], head: rows.at(-1)!.facts.id, final: rows[9]!.facts.id })
  await store.close()
  // Opening it writes the log to a table.
  await (await openChainStore(folder, GENESIS)).close()
  return folder
}
const fileNamed = (folder: string, pattern: RegExp) => {
  const name = readdirSync(folder).find((each) => pattern.test(each))
  return join(folder, name!)
}
const refusal = (code: string) => ({ detail: { code }, nextStep: expect.stringMatching(/.{20}/) })

test('a store is there again after it was closed', async () => {
  const store = await openChainStore(await chainFolder(), GENESIS)
  expect([store.head.height, store.final.height]).toEqual([30, 10])
  await store.close()
})

test('a folder in use, of another chain or with something else in it is refused with a way out', async () => {
  const folder = await chainFolder()
  const store = await openChainStore(folder, GENESIS)
  await expect(openChainStore(folder, GENESIS)).rejects.toMatchObject(refusal('CHAIN_FOLDER_IN_USE'))
  await store.close()
  await expect(openChainStore(folder, idOf('other'))).rejects.toMatchObject(refusal('CHAIN_IS_ANOTHER'))
  // Neither has changed anything, nor keeps the folder.
  await (await openChainStore(folder, GENESIS)).close()
  const other = temporaryFolder()
  writeFileSync(join(other, 'letters'), 'dear')
  await expect(openChainStore(other, GENESIS)).rejects.toMatchObject(refusal('CHAIN_FOLDER_UNUSABLE'))
  await expect(openChainStore(join(other, 'letters'), GENESIS)).rejects.toMatchObject(refusal('CHAIN_FOLDER_UNUSABLE'))
})

const files = { 'its first file': /^CURRENT$/, 'its list of files': /^MANIFEST/, 'a table': /\.ldb$/ }

test.each(Object.entries(files))('a chain that lost %s is called damaged, not begun anew', async (_, pattern) => {
  const folder = await chainFolder()
  rmSync(fileNamed(folder, pattern))
  await expect(openChainStore(folder, GENESIS)).rejects.toMatchObject(refusal('CHAIN_STORE_DAMAGED'))
})

test('a byte that changed in a table is found in most places where it can stand', async () => {
  const folder = await chainFolder()
  const file = fileNamed(folder, /\.ldb$/)
  const whole = readFileSync(file)
  let found = 0
  const places = Array.from({ length: 24 }, (_, i) => Math.floor((whole.length * i) / 24))
  for (const at of places) {
    writeFileSync(
      file,
      whole.map((byte, i) => (i === at ? byte ^ 0x10 : byte)),
    )
    const readAll = async () => {
      const store = await openChainStore(folder, GENESIS)
      try {
        for (let height = 1; height <= 30; height++) {
          const id = (await store.idAt(height))!
          // A name that changed leads to nothing; what is read is right.
          const [facts, bytes] = [await store.facts(id), await store.block(id)]
          if (facts === null || bytes === null) throw new Error('gone')
          expect([facts.height, Buffer.from(bytes.subarray(0, 32)).toString('hex')]).toEqual([height, id])
        }
      } finally {
        await store.close()
      }
    }
    await readAll().catch(() => found++)
  }
  writeFileSync(file, whole)
  await (await openChainStore(folder, GENESIS)).close()
  // Some bytes are between the values: they may change without harm.
  expect(found).toBeGreaterThan(12)
})
