import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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
const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** The rows of docs/attacks.md: number, and the files its last column names. */
const table = [...read('docs/attacks.md').matchAll(/^\| (\d+) \|.*\| ([^|]+) \|$/gm)].map(([, number, files]) => ({
  attack: Number(number),
  files: [...files!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!),
}))

/** What no test can run yet: parts of the network that are not built, and a validator that colludes. */
const WITHOUT_TEST = [21, 22, 23, 37]

/** Files that hold cheats as data; every other file says "attack N". */
const CHEATS: Readonly<Record<string, readonly { readonly attack: number }[]>> = {
  'test/cheats/workCheats.ts': WORK_CHEATS,
  'test/cheats/lineCheats.ts': LINE_CHEATS,
  'test/cheats/lostCheats.ts': LOST_CHEATS,
  'test/cheats/byteCheats.ts': BYTE_CHEATS,
  'test/cheats/claimCheats.ts': CLAIM_CHEATS,
  'test/cheats/evidenceCheats.ts': EVIDENCE_CHEATS,
}

/** The file, and the suites and shared trials it runs. */
function textOf(file: string): string {
  const own = read(file)
  const shared = [...own.matchAll(/from '([^']*(?:\/suites\/|\/support\/|\.\/)[^']*\.ts)'/g)]
    .map(([, path]) => join(dirname(file), path!))
    .filter((path) => path.startsWith('test/') && existsSync(join(root, path)))
  return [own, ...shared.map(read)].join('\n')
}

/** Whether the file names the attack: "attack 7", "attacks 7, 9 and 12". */
function names(file: string, attack: number): boolean {
  if (!existsSync(join(root, file))) return false
  const cheats = CHEATS[file]
  if (cheats) return cheats.some((cheat) => cheat.attack === attack)
  return new RegExp(`\\battacks?:? (?:\\d+(?:, | and ))*${attack}\\b`, 'i').test(textOf(file))
}

describe('docs/attacks.md', () => {
  test('has every attack once, in order, without a gap', () => {
    expect(table.map(({ attack }) => attack)).toEqual(table.map((_, i) => i + 1))
  })

  test.each(table)('attack $attack names tests that name it', ({ attack, files }) => {
    expect(files.length > 0).toBe(!WITHOUT_TEST.includes(attack))
    expect(files.filter((file) => !names(file, attack))).toEqual([])
  })

  test('lacks no attack that a cheat names', () => {
    const known = new Set(table.map(({ attack }) => attack))
    for (const { attack } of [...BOX_CHEATS, ...EVIDENCE_CHEATS]) expect(known).toContain(attack)
  })
})

test('no two cheats have the same name', () => {
  const cheats = [...BOX_CHEATS, ...EVIDENCE_CHEATS].map(({ attack, name }) => `${attack} ${name}`)
  expect(new Set(cheats).size).toBe(cheats.length)
})
