import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkRecords } from './checkRecords.ts'

const silent = () => {}

test('attack 336: records of checks fill no disk, and one that cannot be written costs no report', () => {
  const folder = mkdtempSync(join(tmpdir(), 'checks-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const told: string[] = []
  const log = { debug: silent, info: silent, warn: silent, error: (message: string) => void told.push(message) }
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
