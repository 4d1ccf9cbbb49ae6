#!/usr/bin/env node
// Makes release/touchstone: the whole program as one executable for Linux on x86-64, from the Node that runs this script and
// Node's own single-executable support. `--out FILE` writes it elsewhere. It is stripped of symbols where `strip` exists.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { injectBlob } from './injectBlob.mjs'
import { standInsFor } from './standIns.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What no program reads: types, maps, sources, texts, other runtimes, extensions of the database that we do not load. */
const NOT_READ = /\.(ts|mts|cts|map|md|c|cc|h|gyp|gypi|bare|tar\.gz)$/
const KEPT = /^docs\/|\/licen[cs]e[^/]*$/i
const FOREIGN = /\/prebuilds\/(?!linux-x64\/)|\/\.[^/]*$/
/** The embedded script may not import, this one may: see src/main/executable.ts. */
const START = "import(require('node:url').pathToFileURL(process.argv[1]).href)\n"

/** What npm installs for a user: our own files, and the packages that the lockfile does not keep for development. */
function programFiles() {
  const { files } = readJson(join(root, 'package.json'))
  const { packages } = readJson(join(root, 'package-lock.json'))
  // Optional ones may be for another machine, and are not here then.
  const isOurs = (path) =>
    path !== '' && !packages[path].dev && !(packages[path].optional && !existsSync(join(root, path)))
  const theirs = Object.keys(packages).filter(isOurs)
  const found = [...files, ...theirs].flatMap((path) => filesIn(join(root, path)))
  const needed = found.filter((path) => KEPT.test(path) || !(FOREIGN.test(path) || NOT_READ.test(path)))
  const own = [...new Set(['package.json', 'LICENSE', ...needed])].map((path) => ({
    path,
    content: readFileSync(join(root, path)),
  }))
  const added = [
    { path: 'start.cjs', content: Buffer.from(START) },
    { path: 'bin/LICENSE', content: readFileSync(licenceOfNode()) },
  ]
  return [...own, ...added, ...standInsFor(own, packages)].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function licenceOfNode() {
  const near = ['../../LICENSE', '../../share/doc/nodejs/LICENSE'].map((path) => resolve(process.execPath, path))
  const licence = near.find(existsSync)
  if (licence === undefined) throw new Error(`${process.execPath} has no LICENSE file near it to pass on`)
  return licence
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return [relative(root, path)]
  return readdirSync(path).flatMap((name) => filesIn(join(path, name)))
}

/** The blob that Node finds inside itself: the first script, the list of files with their hashes, and all of them packed. */
async function makeBlob(folder) {
  const files = programFiles()
  const listed = files.map(({ path, content }) => ({ path, bytes: content.length, sha256: hashOf(content) }))
  const write = (name, content) => writeFileSync(join(folder, name), content)
  write('files.json', JSON.stringify(listed))
  write('program.gz', gzipSync(Buffer.concat(files.map(({ content }) => content)), { level: 9 }))
  await build({
    entryPoints: [join(root, 'dist/main/executable.js')],
    outfile: join(folder, 'main.cjs'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    logLevel: 'error',
  })
  // Names without a folder: they become part of the blob, which is the same wherever it is made.
  const assets = { 'files.json': 'files.json', 'program.gz': 'program.gz' }
  const settings = { main: 'main.cjs', output: 'blob', disableExperimentalSEAWarning: true, assets }
  write('sea.json', JSON.stringify(settings))
  run(process.execPath, ['--experimental-sea-config', 'sea.json'], folder)
  const bytes = listed.reduce((sum, file) => sum + file.bytes, 0)
  return { blob: readFileSync(join(folder, 'blob')), count: files.length, bytes }
}

function strippedNode(folder) {
  const own = join(folder, 'node')
  copyFileSync(process.execPath, own)
  spawnSync('strip', [own])
  return readFileSync(own)
}

function run(command, args, cwd = root) {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))
const hashOf = (content) => createHash('sha256').update(content).digest('hex')
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`

const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'release/touchstone') } } })
const folder = mkdtempSync(join(tmpdir(), 'touchstone-executable-'))
try {
  run(process.execPath, [join(root, 'scripts/setup.mjs')])
  const { blob, count, bytes } = await makeBlob(folder)
  const made = injectBlob(strippedNode(folder), blob)
  const to = resolve(values.out)
  mkdirSync(dirname(to), { recursive: true })
  rmSync(to, { force: true })
  writeFileSync(to, made, { mode: 0o755 })
  console.log(
    `${to}: ${megabytes(made.length)}, with Node ${process.version} and ${count} files of ${megabytes(bytes)}`,
  )
} catch (fault) {
  console.error(`release:executable: ${fault.message}`)
  process.exitCode = 3
} finally {
  rmSync(folder, { recursive: true, force: true })
}
