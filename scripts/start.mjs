#!/usr/bin/env node
// `npm start`: verifies this very machine on embedded defaults, then re-checks the certificate it wrote.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../dist/main/touchstone.js', import.meta.url))
const file = 'touchstone-certificate.json'
// What it tells people to type is what works here.
const env = { ...process.env, npm_lifecycle_event: 'npx', npm_lifecycle_script: 'touchstone' }
const run = (...args) => spawnSync(process.execPath, [program, ...args], { stdio: 'inherit', env }).status ?? 3

const verified = run('verify', '--out', file, ...process.argv.slice(2))
if (verified > 1) process.exit(verified)
console.log(`\nRe-checking ${file} as a stranger would: from the file alone.\n`)
const checked = run('check', file)
console.log(`
What to type next:
  npx touchstone verify root@host:port --claim "8x H100 SXM"
                                   a rented box over SSH: is it what was sold?
  npx touchstone verify --help     all options: precisions, duration, preset, devices
  npx touchstone bench             speed, memory, transfers and health, with pass or fail
  npx touchstone --help            everything else`)
process.exit(verified || checked)
