import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ledgerSuite } from '../../../test/suites/ledgerSuite.ts'
import { madeUpRound } from '../../../test/support/madeUpRounds.ts'
import { temporaryFolder } from '../../../test/support/temporaryFolder.ts'
import { fileLedger } from './fileLedger.ts'

ledgerSuite('file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-test-'))
  const end = async () => rmSync(folder, { recursive: true })
  return { open: () => fileLedger(folder), settle: async () => {}, end }
})

const { signal } = new AbortController()

test('a file that somebody changed or broke is said to be so, and is left alone', async () => {
  const folder = temporaryFolder()
  const ledger = fileLedger(folder)
  const round = madeUpRound(1)
  const written = await ledger.publish(round, signal)
  const path = written.kind === 'published' ? written.where : ''
  const good = readFileSync(path, 'utf8')
  for (const bad of [
    '',
    '{}',
    good.slice(0, -9),
    good.replace('"score":1000', '"score":1001'),
    good.replace(/[0-9a-f]{8}"}/, ''),
  ]) {
    writeFileSync(path, bad)
    await expect(ledger.publish(round, signal)).rejects.toMatchObject({ detail: { code: 'LEDGER_FILE_UNREADABLE' } })
    expect(readFileSync(path, 'utf8')).toBe(bad)
  }
  expect(readdirSync(join(path, '..'))).toEqual(['round-1.json'])
})
