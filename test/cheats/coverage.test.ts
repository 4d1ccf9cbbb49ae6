import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { BYTE_CHEATS } from './byteCheats.ts'
import { BOX_CHEATS } from './cheats.ts'
import { CLAIM_CHEATS } from './claimCheats.ts'
import { EVIDENCE_CHEATS } from './evidenceCheats.ts'
import { LINE_CHEATS } from './lineCheats.ts'
import { LOST_CHEATS } from './lostCheats.ts'
import { WORK_CHEATS } from './workCheats.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string) => readFileSync(`${root}${file}`, 'utf8')

/** The rows of docs/attacks.md: number, and the files its last column names. */
const rows = [...read('docs/attacks.md').matchAll(/^\| (\d+) \|.*\| ([^|]+) \|$/gm)].map(([, number, files]) => ({
  row: Number(number),
  files: [...files!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!),
}))

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

/** What the cheats of this folder answer for. */
const OURS = [
  ...range(1, 13),
  ...range(15, 17),
  26,
  27,
  ...range(29, 36),
  38,
  ...range(39, 49),
  55,
  57,
  61,
  ...range(67, 72),
]

/** Files that hold cheats as data; every other file says "row N" in the name of a test. */
const TABLES: Readonly<Record<string, readonly { readonly row: number }[]>> = {
  'test/cheats/workCheats.ts': WORK_CHEATS,
  'test/cheats/lineCheats.ts': LINE_CHEATS,
  'test/cheats/lostCheats.ts': LOST_CHEATS,
  'test/cheats/byteCheats.ts': BYTE_CHEATS,
  'test/cheats/claimCheats.ts': CLAIM_CHEATS,
  'test/cheats/evidenceCheats.ts': EVIDENCE_CHEATS,
}

/** Whether the file runs the row. Tests beside a source are only asked to be there. */
function runs(file: string, row: number): boolean {
  if (!existsSync(`${root}${file}`)) return false
  const table = TABLES[file]
  if (table) return table.some((cheat) => cheat.row === row)
  return file.startsWith('src/') || new RegExp(`\\brow:? ${row}\\b`).test(read(file))
}

describe('docs/attacks.md', () => {
  test('has every row once, in order', () => {
    const numbers = rows.map(({ row }) => row)
    expect(numbers).toEqual(range(1, rows.length))
  })

  test.each(OURS)('row %i names a test that runs it', (row) => {
    const files = rows.find((entry) => entry.row === row)!.files
    expect(files.length).toBeGreaterThan(0)
    expect(files.filter((file) => !runs(file, row))).toEqual([])
  })

  test('names no cheat of a row that is not there', () => {
    const known = new Set(rows.map(({ row }) => row))
    for (const { row } of [...BOX_CHEATS, ...EVIDENCE_CHEATS]) expect(known).toContain(row)
  })
})

test('every row that a box can try is in the table with the verdict it must get', () => {
  const tried = new Set([...BOX_CHEATS, ...EVIDENCE_CHEATS].map(({ row }) => row))
  const elsewhere = [16, 40, 44, 45, 49]
  expect(OURS.filter((row) => !tried.has(row))).toEqual(elsewhere)
})

test('no two cheats have the same name', () => {
  const names = [...BOX_CHEATS, ...EVIDENCE_CHEATS].map(({ row, name }) => `${row} ${name}`)
  expect(new Set(names).size).toBe(names.length)
})
