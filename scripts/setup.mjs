#!/usr/bin/env node
// Runs before `npm start` and `npm test` with nothing but Node: installs what is missing, builds what is stale, says so.
// Of several starts at once one does it and the others wait.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`touchstone needs Node 20.19 or newer; this is ${process.version}. Install a newer Node and run again.`)
  process.exit(3)
}

const modified = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0)

/** Every dependency the lockfile asks for on this platform must lie in node_modules at that version. */
function installIsStale() {
  const installed = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(installed)) return true
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages
  return Object.entries(wanted).some(
    ([path, entry]) => path !== '' && !entry.optional && !entry.link && have[path]?.version !== entry.version,
  )
}

function newestSource(folder) {
  let newest = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    newest = Math.max(newest, entry.isDirectory() ? newestSource(path) : modified(path))
  }
  return newest
}

function buildIsStale() {
  const folders = ['src', 'web', 'catalogue', 'kernels/built', 'scripts'].map((name) => newestSource(join(root, name)))
  const newest = Math.max(...folders, modified(join(root, 'tsconfig.build.json')), modified(join(root, 'package.json')))
  return newest > modified(join(root, 'dist/.built'))
}

const lock = join(root, '.setup-lock')
const letGo = () => rmSync(lock, { recursive: true, force: true })

/** Whoever makes the folder has it. One whose process is gone was left behind by a kill. */
async function takeLock() {
  let told = false
  for (;;) {
    try {
      mkdirSync(lock)
      writeFileSync(join(lock, 'pid'), `${process.pid}`)
      process.on('exit', letGo)
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const holder = holderOfLock()
    if (holder !== null && !isAlive(holder)) letGo()
    else if (!told) console.error(`touchstone: another start (process ${holder}) installs or builds; waiting for it`)
    told = holder === null ? told : true
    await delay(100)
  }
}

/** Null in the moment between the folder and what is written into it, which lasts no longer than a minute. */
function holderOfLock() {
  try {
    return Number(readFileSync(join(lock, 'pid'), 'utf8')) || null
  } catch {
    return Date.now() - modified(lock) > 60_000 ? 0 : null
  }
}

function isAlive(pid) {
  if (pid === 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Whatever asks this program to end asks its child, and only then ends this one. */
async function run(what, command, args) {
  console.error(`touchstone: ${what}`)
  const began = Date.now()
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  })
  let ending = 0
  const pass = (signal, number) => {
    ending = 128 + number
    child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, pass)
  const status = await new Promise((resolve) => {
    child.once('error', () => resolve(1))
    child.once('close', resolve)
  })
  for (const signal of signals) process.removeListener(signal, pass)
  if (ending > 0) process.exit(ending)
  if (status !== 0) {
    console.error(`touchstone: "${command} ${args.join(' ')}" failed. Mend what it says above and run again.`)
    process.exit(3)
  }
  console.error(`touchstone: done in ${((Date.now() - began) / 1000).toFixed(1)} s`)
}

if (installIsStale() || buildIsStale()) {
  await takeLock()
  if (installIsStale())
    await run('installing dependencies (npm ci)', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  if (buildIsStale()) await run('building dist/', process.execPath, ['scripts/build.mjs'])
  letGo()
  // From here on this is the program itself, and the lock may be another's when it ends.
  process.removeListener('exit', letGo)
}
