import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { HOLD_WORKSPACE } from './boxScripts.ts'

const root = mkdtempSync(join(tmpdir(), 'touchstone-hold-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const uid = process.getuid?.() ?? 0

/** Where the script works on a box whose home cannot be written, for a release that is to be kept. */
function workIn(temporary: string): string | undefined {
  const env = { PATH: process.env.PATH, HOME: '/proc/nowhere', TMPDIR: temporary }
  const { stdout } = spawnSync('sh', ['-c', HOLD_WORKSPACE, 'sh', 'marker', 'run', 'keep'], {
    ...{ env, input: '', encoding: 'utf8' },
  })
  return /^work (.*)$/m.exec(stdout)?.[1]
}

const folder = (name: string): string => {
  const made = join(root, name)
  mkdirSync(made)
  return made
}

describe('attack 254: another account of the box was in its folder for temporary files first', () => {
  const nameIn = (temporary: string) => join(temporary, `touchstone-cache-${uid}`)

  test('a folder of its own is taken', () => {
    const temporary = folder('own')
    expect(workIn(temporary)).toBe(join(nameIn(temporary), 'run'))
    // The second time it is there.
    expect(workIn(temporary)).toBe(join(nameIn(temporary), 'run'))
  })

  test('a link is not, wherever it leads: whoever made it may turn it', () => {
    const temporary = folder('linked')
    symlinkSync(folder('target'), nameIn(temporary))
    expect(workIn(temporary)).toBe('none')
  })

  test.skipIf(uid !== 0)('nor is a folder of somebody else: what we put there to run would be his to change', () => {
    const temporary = folder('foreign')
    mkdirSync(nameIn(temporary))
    chmodSync(nameIn(temporary), 0o777)
    chownSync(nameIn(temporary), 65_534, 65_534)
    expect(workIn(temporary)).toBe('none')
  })
})
