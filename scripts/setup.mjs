#!/usr/bin/env node
// Runs before `npm start` and `npm test` with nothing but Node: installs what is missing, builds what is stale, says so.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
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

function run(what, command, args) {
  console.error(`touchstone: ${what}`)
  const began = Date.now()
  const shell = process.platform === 'win32'
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], shell })
  if (done.status !== 0) {
    console.error(`touchstone: "${command} ${args.join(' ')}" failed. Mend what it says above and run again.`)
    process.exit(3)
  }
  console.error(`touchstone: done in ${((Date.now() - began) / 1000).toFixed(1)} s`)
}

if (installIsStale())
  run('installing dependencies (npm ci)', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
const inputs = ['src', 'web', 'catalogue', 'kernels/built', 'scripts'].map((folder) => newestSource(join(root, folder)))
const newest = Math.max(...inputs, modified(join(root, 'tsconfig.build.json')), modified(join(root, 'package.json')))
if (newest > modified(join(root, 'dist/.built'))) run('building dist/', process.execPath, ['scripts/build.mjs'])
