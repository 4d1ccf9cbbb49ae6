#!/usr/bin/env node
// Compiles src/ to dist/ (JavaScript and declarations), parses the catalogue, bundles what runs in a browser and
// what must start fast, and packs the prover into dist/release/ for boxes over SSH.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleCommands, bundleProver, bundleVerifier } from './bundleStarts.mjs'
import { bundleWeb } from './bundleWeb.mjs'
import { packLight } from './packProver.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
rmSync(`${root}dist`, { recursive: true, force: true })
const tsc = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (tsc.status !== 0) process.exit(tsc.status ?? 1)
await parseShipped()
await bundleWeb(root)
await bundleCommands(root)
await bundleProver(root)
await bundleVerifier(root)
if (existsSync(`${root}dist/main/prover.js`)) await packLight({ root, to: `${root}dist/release/prover-light` })
writeFileSync(`${root}dist/.built`, `${Date.now()}\n`)

/** As src/drivers/system/loadCatalogue.ts reads it. */
async function parseShipped() {
  const { loadCatalogue } = await import(`${root}dist/drivers/system/loadCatalogue.js`)
  const file = `${root}catalogue/gpus.yaml`
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex')
  writeFileSync(`${root}dist/catalogue.json`, JSON.stringify({ sha256, catalogue: await loadCatalogue(file) }))
}
