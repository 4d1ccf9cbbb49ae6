import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'

const repository = fileURLToPath(new URL('..', import.meta.url))
const folders = mkdtempSync(join(tmpdir(), 'touchstone-setup-'))
const running: ChildProcess[] = []
afterAll(async () => {
  for (const child of running.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  rmSync(folders, { recursive: true, force: true })
})

/** Says that it has begun, then does what it is told on a channel or by a signal. */
const FAKE_NPM = `#!${process.execPath}
const { appendFileSync, mkdirSync, writeFileSync, existsSync, watchFile } = require('node:fs')
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => { console.log('npm got ' + signal); process.exit(1) })
appendFileSync('runs', 'npm\\n')
console.log('npm begins')
setInterval(() => {
  if (!existsSync('go')) return
  mkdirSync('node_modules', { recursive: true })
  writeFileSync('node_modules/.package-lock.json', '{"packages":{}}')
  process.exit(0)
}, 20)
`

/** The program: it says when it listens, and which signal ended it. */
const PROGRAM = `for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => { console.log('program got ' + signal); process.exit(0) })
console.log('program runs')
setInterval(() => {}, 1000)
`

/** A clone with nothing installed or built, whose npm and build do nothing but say that they ran. */
function freshClone(name: string): string {
  const root = join(folders, name)
  for (const folder of ['src', 'web', 'catalogue', 'kernels/built', 'scripts', 'bin', 'path'])
    mkdirSync(join(root, folder), { recursive: true })
  for (const file of ['scripts/setup.mjs', 'bin/touchstone.mjs']) cpSync(join(repository, file), join(root, file))
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  writeFileSync(join(root, 'package-lock.json'), '{"packages":{"":{}}}')
  writeFileSync(join(root, 'path/npm'), FAKE_NPM, { mode: 0o755 })
  writeFileSync(join(root, 'path/package.json'), '{"type":"commonjs"}')
  const build = `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
    appendFileSync('runs', 'build\\n')
    mkdirSync('dist/main', { recursive: true })
    writeFileSync('dist/main/touchstone.js', ${JSON.stringify(PROGRAM)})
    writeFileSync('dist/.built', '')`
  writeFileSync(join(root, 'scripts/build.mjs'), build)
  return root
}

/** `npx touchstone` as npx runs it, with all it says. */
function start(root: string) {
  const env = { ...process.env, PATH: `${join(root, 'path')}${delimiter}${process.env.PATH}` }
  const child = spawn(process.execPath, [join(root, 'bin/touchstone.mjs')], { env, stdio: 'pipe', cwd: root })
  running.push(child)
  const said: string[] = []
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      said.push(line)
      for (const wake of waiting) wake()
    })
  const hears = (text: string) =>
    new Promise<void>((resolve) => {
      const look = (): void => {
        if (!said.some((line) => line.includes(text))) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  return { child, said, hears, ended: once(child, 'close') as Promise<[number | null]> }
}

const SIGNALS = [
  { name: 'SIGINT', code: 130 },
  { name: 'SIGTERM', code: 143 },
  { name: 'SIGHUP', code: 129 },
] as const

describe.skipIf(process.platform === 'win32')('the first start in a clone', { timeout: 30_000 }, () => {
  test('of three at once one installs and builds, the others wait and say so; a signal ends each program', async () => {
    const root = freshClone('three')
    const first = start(root)
    await first.hears('npm begins')
    const others = [start(root), start(root)]
    for (const other of others)
      await other.hears(`another start (process ${first.child.pid}) installs or builds; waiting for it`)
    writeFileSync(join(root, 'go'), '')
    for (const [i, one] of [first, ...others].entries()) {
      await one.hears('program runs')
      one.child.kill(SIGNALS[i]!.name)
      expect([await one.ended, one.said.at(-1)]).toEqual([[0, null], `program got ${SIGNALS[i]!.name}`])
    }
    expect(readFileSync(join(root, 'runs'), 'utf8')).toBe('npm\nbuild\n')
    expect(existsSync(join(root, '.setup-lock'))).toBe(false)
  })

  test.concurrent.each(SIGNALS)(
    '$name in mid-install ends the install too, and leaves no lock',
    async ({ name, code }) => {
      const root = freshClone(name)
      const one = start(root)
      await one.hears('npm begins')
      one.child.kill(name)
      expect([await one.ended, one.said.at(-1)]).toEqual([[code, null], `npm got ${name}`])
      expect(existsSync(join(root, '.setup-lock'))).toBe(false)
    },
  )

  test('a lock that a killed start left behind holds nobody up', async () => {
    const root = freshClone('left')
    const killed = start(root)
    await killed.hears('npm begins')
    killed.child.kill('SIGKILL')
    writeFileSync(join(root, 'go'), '')
    await killed.ended
    expect(existsSync(join(root, '.setup-lock'))).toBe(true)
    rmSync(join(root, 'node_modules'), { recursive: true, force: true })
    const next = start(root)
    await next.hears('program runs')
    next.child.kill('SIGTERM')
    expect(await next.ended).toEqual([0, null])
  })
})
