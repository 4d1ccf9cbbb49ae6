import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SILENT_LOG } from '../../../test/support/silentLog.ts'
import { temporaryFolder } from '../../../test/support/temporaryFolder.ts'
import { checkRecords } from './checkRecords.ts'

test('attack 336: records of checks fill no disk, and one that cannot be written costs no report', () => {
  const folder = temporaryFolder()
  const told: string[] = []
  const log = { ...SILENT_LOG, error: (message: string) => void told.push(message) }
  for (const [age, name] of ['old', 'older', 'oldest'].entries()) {
    writeFileSync(join(folder, `${name}.json`), '{}')
    utimesSync(join(folder, `${name}.json`), 1_000 - age, 1_000 - age)
  }
  const keep = checkRecords(folder, log, 3)
  keep('one', '{}')
  expect(readdirSync(folder).sort()).toEqual(['old.json', 'older.json', 'one.json'])
  for (const name of ['two', 'two', 'three']) keep(name, '{}')
  expect(readdirSync(folder).sort()).toEqual(['one.json', 'three.json', 'two.json'])
  expect(told).toEqual([])
  // A file stands where the folder should be.
  checkRecords(join(folder, 'one.json'), log)('four', '{}')
  expect(told).toEqual(['the record of a check was not kept'])
})
