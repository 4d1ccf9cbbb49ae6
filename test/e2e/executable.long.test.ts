import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bareNode } from '../../src/drivers/remote/bareNode.ts'
import { installedOverSshSuite, installedSuite } from '../suites/installedSuite.ts'
import { skipWith } from '../support/skipWith.ts'

const script = new URL('../../scripts/releaseExecutable.mjs', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'touchstone-executable-'))
const program = join(folder, 'touchstone')
const make = (to: string) => spawnSync(process.execPath, [script, '--out', to], { encoding: 'utf8' })
const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')

if (process.platform !== 'linux' || process.arch !== 'x64')
  skipWith('the single executable', 'it is made for Linux on x86-64 alone')
else {
  beforeAll(() => {
    const { status, stdout, stderr } = make(program)
    console.info(stdout.trim())
    expect({ status, stderr }).toMatchObject({ status: 0 })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  installedSuite('the single executable', () => ({ command: [program] }))
  installedOverSshSuite('the single executable', () => ({ command: [program] }))

  test('where it cannot unpack itself it says why and what to do', () => {
    const env = { XDG_CACHE_HOME: '/dev/null/x' }
    const { status, stderr } = spawnSync(program, ['--version'], { env, encoding: 'utf8' })
    expect(status).toBe(3)
    expect(stderr).toMatch(/ENOTDIR.*\[NOT_UNPACKED\]\nnext: Give XDG_CACHE_HOME a folder of your own/)
  })

  test('attack 316: no package of a folder above the program is run, whichever the program asks for', () => {
    const shared = join(folder, 'shared')
    mkdirSync(join(shared, 'me'), { recursive: true })
    chmodSync(shared, 0o1777)
    for (const name of ['bufferutil', 'utf-8-validate']) {
      mkdirSync(join(shared, 'node_modules', name), { recursive: true })
      writeFileSync(join(shared, 'node_modules', name, 'index.js'), "console.error('theirs')")
    }
    const env = { XDG_CACHE_HOME: join(shared, 'me'), HOME: folder }
    const { status, stderr } = spawnSync(program, ['rent', '--help'], { env, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  test('behind a link it knows its children for its own', () => {
    mkdirSync(join(folder, 'real'))
    symlinkSync(join(folder, 'real'), join(folder, 'link'))
    const env = { XDG_CACHE_HOME: join(folder, 'link'), HOME: folder }
    const tiny = ['--preset', 'tiny', '--devices', 'cpu', '--precisions', 'int8', '--no-memory', '--no-bind']
    const { status, stderr } = spawnSync(program, ['verify', ...tiny], { env, cwd: folder, encoding: 'utf8' })
    expect(status, stderr).toBe(0)
  })

  test('the same sources and the same Node give the same executable, and that Node can be taken out again', () => {
    const again = join(folder, 'again')
    make(again)
    const made = readFileSync(program)
    expect(hashOf(readFileSync(again))).toBe(hashOf(made))
    const node = bareNode(made)
    expect(node.length).toBeLessThan(made.length)
    expect(bareNode(node)).toBe(node)
  })
}
