#!/usr/bin/env node
// Packs the prover for boxes: release/prover-light (the box has Node) and release/prover-node (it brings its own), each also
// as one archive. `--node PATH` names the Node to carry, for linux x64; without it, the one that runs this script. It is
// stripped of symbols where `strip` exists. `--light` leaves the second flavour out; `--out FOLDER` writes elsewhere.
import { spawnSync } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { archiveFolder } from './archiveFolder.mjs'
import { packLight, packWithNode } from './packProver.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: {
    node: { type: 'string', default: process.execPath },
    out: { type: 'string', default: join(root, 'release') },
    light: { type: 'boolean', default: false },
  },
})

function finish({ directory, files, bytes, node }) {
  const name = basename(directory)
  const listed = [...files, { path: 'manifest.json', executable: false }]
  for (const ending of ['.tar.xz', '.tar.gz']) rmSync(directory + ending, { force: true })
  const archive = archiveFolder({ folder: directory, name, files: listed, to: directory })
  const carried = node === undefined ? '' : `, with Node ${node.version}${node.stripped ? ' stripped' : ' as it is'}`
  console.log(`${name}: ${files.length} files, ${megabytes(bytes)}${carried}`)
  console.log(`${basename(archive)}: ${megabytes(statSync(archive).size)}`)
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`

const built = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit' })
if (built.status !== 0) process.exit(built.status ?? 1)
try {
  const light = await packLight({ root, to: resolve(values.out, 'prover-light') })
  finish(light)
  if (!values.light)
    finish(packWithNode({ light: light.directory, to: resolve(values.out, 'prover-node'), node: values.node }))
} catch (fault) {
  console.error(`release:prover: ${fault.message}`)
  process.exitCode = 3
}
