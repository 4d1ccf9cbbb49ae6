#!/usr/bin/env node
// Compiles src/ to dist/ (JavaScript and declarations). One compiler run, no bundler: the release bundles, the clone does not.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
rmSync(`${root}dist`, { recursive: true, force: true })
const tsc = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (tsc.status !== 0) process.exit(tsc.status ?? 1)
const bin = `${root}dist/main/touchstone.js`
if (existsSync(bin)) chmodSync(bin, 0o755)
writeFileSync(`${root}dist/.built`, `${Date.now()}\n`)
