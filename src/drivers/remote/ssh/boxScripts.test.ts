import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { HOLD_WORKSPACE } from './boxScripts.ts'

const root = mkdtempSync(join(tmpdir(), 'touchstone-hold-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const uid = process.getuid?.() ?? 0

/** Where the script works on a box whose home cannot be written, for a release that is to be kept. */
function workIn(temporary: string): string | undefined {
  const env = { PATH: process.env.PATH, HOME: '/proc/nowhere', TMPDIR: temporary }
  const { stdout } = spawnSync('sh', ['-c', HOLD_WORKSPACE, 'sh', 'marker', 'run', 'keep', '180'], {
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

const shells = [['sh'], ['dash'], ['bash'], ['busybox', 'sh']].filter(
  ([program]) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0,
)

/** The pids of the processes that such a shell has started and are still there. */
const startedBy = (pid: number): string[] =>
  spawnSync('ps', ['-e', '-o', 'pid=,pgid='], { encoding: 'utf8' })
    .stdout.split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([one, group]) => (group === String(pid) && one !== group ? [one!] : []))

describe.each(shells)(
  'attack 470: a validator that says nothing any more, on a connection that stands, and %s',
  (...shell) => {
    async function hold(silence: string) {
      const home = mkdtempSync(join(root, 'silent-'))
      const [program = '', ...before] = shell
      const args = [...before, '-c', HOLD_WORKSPACE, 'sh', 'marker', 'run', 'keep', silence]
      // A group of its own, as sshd gives every command.
      const holder = spawn(program, args, { env: { PATH: process.env.PATH, HOME: home }, detached: true })
      const ended = once(holder, 'exit')
      let said = ''
      for await (const chunk of holder.stdout) {
        said += chunk
        if (said.includes('marker end\n')) break
      }
      const work = join(home, '.cache/touchstone/run')
      const prover = spawn('sleep', ['60'], { detached: true })
      writeFileSync(join(work, 'group-0'), `${prover.pid}\n`)
      return { holder, ended, work, prover, proverEnded: once(prover, 'exit') }
    }

    test('the workspace is let go, and what runs in it ends', async () => {
      const { ended, work, proverEnded, holder } = await hold('1')
      await Promise.all([ended, proverEnded])
      expect(existsSync(work)).toBe(false)
      await eventually(() => startedBy(holder.pid!).length === 0)
    })

    test('every word keeps it, and its end takes everything along', async () => {
      const { holder, ended, work, proverEnded } = await hold('1')
      for (let i = 0; i < 8; i++) {
        await sleep(300)
        holder.stdin.write('here\n')
      }
      expect(readFileSync(join(work, 'group-0'), 'utf8')).not.toBe('')
      holder.stdin.end()
      await Promise.all([ended, proverEnded])
      expect(existsSync(work)).toBe(false)
      await eventually(() => startedBy(holder.pid!).length === 0)
    })
  },
)
