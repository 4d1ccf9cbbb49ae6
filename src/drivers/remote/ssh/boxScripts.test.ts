import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { HOLD_WORKSPACE, START_PROVER } from './boxScripts.ts'

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

/** Reads until the holder has told its facts. */
async function factsOf(holder: ChildProcessWithoutNullStreams): Promise<void> {
  let said = ''
  for await (const chunk of holder.stdout) {
    said += chunk
    if (said.includes('marker end\n')) return
  }
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
      await factsOf(holder)
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

const placeOf = (name: string): string =>
  spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()
const perl = placeOf('perl')

describe.skipIf(perl === '').each(shells)(
  'attack 483: an SSH server that starts commands in its own process group, and %s',
  (...shell) => {
    const [program = '', ...before] = shell

    /** Programs of the box but for setsid. */
    function withoutSetsid(): string {
      const bin = mkdtempSync(join(root, 'bin-'))
      const names = new Set([
        program,
        'sh',
        'cat',
        'id',
        'mkdir',
        'rm',
        'sleep',
        'uname',
        'head',
        'df',
        'find',
        'touch',
      ])
      for (const name of names) symlinkSync(placeOf(name), join(bin, name))
      return bin
    }

    /** A server with a holder and a prover, and whatever else it has started, all of them in the group of the server. */
    async function serve(path = process.env.PATH!) {
      const home = mkdtempSync(join(root, 'shared-'))
      // Who joins no group stays in that of the tests: it must not begin.
      const inGroup = (group: number, args: readonly string[]) =>
        spawn(perl, ['-e', 'setpgrp(0, shift) or exit 99; exec @ARGV', String(group), ...args], {
          env: { PATH: path, HOME: home },
        })
      const server = inGroup(0, ['sh', '-c', 'echo up; sleep 60'])
      await once(server.stdout, 'data')
      const run = (script: string, ...args: string[]) =>
        inGroup(server.pid!, [program, ...before, '-c', script, 'sh', 'marker', ...args])
      const holder = run(HOLD_WORKSPACE, 'run', 'keep', '180')
      await factsOf(holder)
      const work = join(home, '.cache/touchstone/run')
      const start = (...command: string[]) => run(START_PROVER, work, '0', home, 'keep', ...command)
      return { server, holder, ended: once(holder, 'exit'), work, start }
    }
    type Served = Awaited<ReturnType<typeof serve>>

    const isUp = ({ server }: Served) => server.exitCode === null && server.signalCode === null

    /** Of a group that is gone nothing is left to kill. */
    async function end({ server, holder, ended }: Served): Promise<void> {
      holder.stdin.end()
      await ended
      server.kill()
    }

    test('the prover has a group of its own, which alone is ended', async () => {
      const box = await serve()
      const prover = box.start('sh', '-c', 'sleep 60 & echo started; cat; wait')
      const proverEnded = once(prover, 'exit')
      await eventually(() => existsSync(join(box.work, 'group-0')))
      for await (const chunk of prover.stdout) if (String(chunk).includes('started')) break
      box.holder.stdin.write('kill\n')
      await proverEnded
      expect(isUp(box)).toBe(true)
      expect(box.holder.exitCode).toBeNull()
      await end(box)
      expect(existsSync(box.work)).toBe(false)
    })

    test('one that ends by itself takes along what it has left there, and nothing of the server', async () => {
      const box = await serve()
      const prover = box.start('sh', '-c', 'sleep 60 >/dev/null 2>&1 & echo "$!"; exit 5')
      let said = ''
      prover.stdout.on('data', (chunk) => (said += chunk))
      expect(await once(prover, 'exit')).toEqual([5, null])
      const [left] = /\d+/.exec(said.replace('marker', ''))!
      await eventually(() => spawnSync('kill', ['-0', left]).status !== 0)
      expect([isUp(box), box.holder.exitCode]).toEqual([true, null])
      await end(box)
    })

    test('without setsid on the box the group of the server is let alone', async () => {
      const box = await serve(withoutSetsid())
      const prover = box.start('cat')
      const proverEnded = once(prover, 'exit')
      for await (const chunk of prover.stdout) if (String(chunk).includes('marker')) break
      expect(existsSync(join(box.work, 'group-0'))).toBe(false)
      box.holder.stdin.write('kill\n')
      await sleep(200)
      expect([isUp(box), prover.exitCode, box.holder.exitCode]).toEqual([true, null, null])
      prover.stdin.end()
      await proverEnded
      await end(box)
    })

    test('files that name no group of a prover kill nobody', async () => {
      const home = mkdtempSync(join(root, 'named-'))
      // Said and not done: one of these is every process of the account.
      const told = `kill() { printf '%s\\n' "$*" >> "$HOME/killed"; }\n${HOLD_WORKSPACE}`
      const holder = spawn(program, [...before, '-c', told, 'sh', 'marker', 'run', 'keep', '180'], {
        ...{ env: { PATH: process.env.PATH, HOME: home }, detached: true },
      })
      const ended = once(holder, 'exit')
      await factsOf(holder)
      const files = ['', '0', '1', '-1', 'x', '4x', String(holder.pid), '77777'].map((group, i) => {
        const file = join(home, '.cache/touchstone/run', `group-${i}`)
        writeFileSync(file, `${group}\n`)
        return file
      })
      holder.stdin.write('kill\n')
      await eventually(() => !files.some((file) => existsSync(file)))
      holder.stdin.end()
      await ended
      process.kill(-holder.pid!, 'SIGKILL')
      const killed = readFileSync(join(home, 'killed'), 'utf8').split('\n')
      expect(killed.filter((line) => line.startsWith('-KILL') || line.startsWith('-TERM'))).toEqual(['-KILL -77777'])
    })
  },
)

test('a workspace that is held is no left one, however old: whoever visits removes those of a day', async () => {
  const home = mkdtempSync(join(root, 'old-'))
  const args = ['-c', HOLD_WORKSPACE, 'sh', 'marker', '.touchstone-run-1', 'keep', '180']
  const holder = spawn('sh', args, { env: { PATH: process.env.PATH, HOME: home }, detached: true })
  const ended = once(holder, 'exit')
  await factsOf(holder)
  const work = join(home, '.cache/touchstone/.touchstone-run-1')
  utimesSync(work, 1, 1)
  holder.stdin.write('here\n')
  await eventually(() => statSync(work).mtimeMs > 1e12)
  holder.stdin.end()
  await ended
})
