// Packs the prover into a folder that runs anywhere by itself: one bundle per script, koffi's native part, the built
// kernels, and a manifest of hashes as src/drivers/remote/readRelease.ts reads it. The same inputs give the same manifest.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { build } from 'esbuild'

/** koffi's prebuilt part is for Linux on x86-64 with glibc; `uname -m` says x86_64 there. */
const MACHINE = 'x86_64'
const KOFFI = [
  { from: 'node_modules/koffi', wanted: /^(package\.json|index\.js|LICENSE\.txt|src\/koffi\/.*\.js)$/ },
  { from: 'node_modules/@koromix/koffi-linux-x64', wanted: /^(package\.json|index\.js|linux_x64\/koffi\.node)$/ },
]
/** What a Node may ask of the box: glibc and the C++ runtime, which every machine with an NVIDIA driver has. */
const BOX_LIBRARIES = /^(linux-vdso|ld-linux-x86-64|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|atomic))\.so/

/** For boxes that have Node 20.19 or newer. Reads dist/, so build first. */
export async function packLight({ root, to }) {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  const packages = await bundleScripts(root, to)
  copyInto(join(root, 'kernels/built'), join(to, 'kernels/built'), /\.(wasm|ptx|so)$|^SHA256SUMS$/)
  for (const { from, wanted } of KOFFI) copyInto(join(root, from), join(to, from), wanted)
  const { version } = readJson(join(root, 'package.json'))
  // Node takes the bundles for ES modules because of this file, and no package.json further up is asked.
  writeFileSync(join(to, 'package.json'), `${JSON.stringify({ name: 'touchstone-prover', version, type: 'module' })}\n`)
  writeFileSync(join(to, 'LICENSES.txt'), licences(root, packages))
  return writeManifest(to, { flavour: 'light', version, carriesNode: false, command: ['node', 'prover.js'] })
}

/** The light flavour and a Node beside it, for boxes that have none. */
export function packWithNode({ light, to, node = process.execPath }) {
  const found = examineNode(node)
  rmSync(to, { recursive: true, force: true })
  copyInto(light, to, /^(?!manifest\.json$)/)
  const own = join(to, 'bin/node')
  mkdirSync(dirname(own))
  copyFileSync(node, own)
  chmodSync(own, 0o755)
  const stripped = spawnSync('strip', [own]).status === 0
  const licence = ['../../LICENSE', '../../share/doc/nodejs/LICENSE']
    .map((path) => resolve(node, path))
    .find(existsSync)
  if (licence === undefined) throw new Error(`${node} has no LICENSE file near it to pass on`)
  copyFileSync(licence, join(to, 'bin/LICENSE'))
  const { version } = readJson(join(to, 'package.json'))
  const command = ['bin/node', 'prover.js']
  return writeManifest(to, { flavour: 'node', version, carriesNode: true, command, node: { ...found, stripped } })
}

/** dist/main/prover.js and every script that it, or one of those, starts as a thread: each one file, side by side. */
async function bundleScripts(root, to) {
  const waiting = [join(root, 'dist/main/prover.js')]
  const done = new Map()
  const packages = new Set()
  for (let script = waiting.pop(); script !== undefined; script = waiting.pop()) {
    const name = basename(script)
    if (done.get(name) === script) continue
    if (done.has(name)) throw new Error(`two scripts are called ${name}: ${done.get(name)} and ${script}`)
    done.set(name, script)
    const inputs = await bundleScript({ root, script, to: join(to, name) })
    for (const input of inputs)
      if (input.startsWith('node_modules/')) packages.add(/^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)[1])
    const own = inputs.filter((input) => !input.startsWith('node_modules/')).map((input) => join(root, input))
    waiting.push(...threadsOf(script, own))
  }
  return [...packages].sort()
}

async function bundleScript({ root, script, to }) {
  const { version } = readJson(join(root, 'package.json'))
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [script],
    outfile: to,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    external: ['koffi'],
    define: { TOUCHSTONE_VERSION: JSON.stringify(version) },
    // Bundled CommonJS packages ask for require.
    banner: {
      js: "import { createRequire as releaseRequire } from 'node:module'\nconst require = releaseRequire(import.meta.url)",
    },
    legalComments: 'inline',
    metafile: true,
    logLevel: 'error',
  })
  return Object.keys(metafile.inputs)
}

/** Threads are always named by scriptUrl('./name.ts', import.meta.url); in the bundle all scripts share a folder. */
function threadsOf(script, files) {
  const sources = files.map((file) => ({ file, source: readFileSync(file, 'utf8') }))
  const found = sources.flatMap(({ file, source }) =>
    [...source.matchAll(/\bscriptUrl\(\s*(['"])([^'"]+)\.ts\1/g)].map((match) => ({ file, name: match[2] })),
  )
  const astray = found.find(({ name }) => !/^\.\/[^/]+$/.test(name))
  if (astray) throw new Error(`${astray.file} starts ${astray.name}, which would not lie beside it in a release`)
  if (found.length === 0 && sources.some(({ source }) => /\bnew Worker\(/.test(source)))
    throw new Error(`${script} starts a thread that scriptUrl does not name: the release would miss it`)
  return found.map(({ file, name }) => join(dirname(file), `${name}.js`))
}

function examineNode(node) {
  const asked = spawnSync(node, ['-p', '[process.platform, process.arch, process.version].join()'], {
    encoding: 'utf8',
  })
  if (asked.status !== 0) throw new Error(`${node} is no Node that runs here`)
  const [platform, arch, version] = asked.stdout.trim().split(',')
  if (platform !== 'linux' || arch !== 'x64')
    throw new Error(`${node} is for ${platform} ${arch}; name one for linux x64`)
  const needed = spawnSync('ldd', [node], { encoding: 'utf8' }).stdout ?? ''
  const libraries = needed.split('\n').flatMap((line) => /^\s*(?:.*\/)?([^\s/]+\.so[^\s]*)/.exec(line)?.[1] ?? [])
  const foreign = libraries.filter((name) => !BOX_LIBRARIES.test(name))
  if (foreign.length > 0)
    throw new Error(`${node} needs ${foreign.join(', ')}, which a box may not have; use a build from nodejs.org`)
  return { version }
}

/** The licence texts of everything that was bundled or copied. */
function licences(root, packages) {
  const texts = [...new Set([...packages, 'koffi'])].sort().map((name) => {
    const folder = join(root, 'node_modules', name)
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    if (file === undefined) throw new Error(`${name} has no licence file to pass on`)
    return `${name} ${readJson(join(folder, 'package.json')).version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

function writeManifest(folder, { flavour, version, carriesNode, command, node }) {
  const files = [...filesIn(folder)].sort().map((path) => {
    const content = readFileSync(join(folder, path))
    const executable = path.startsWith('bin/') && path.endsWith('/node')
    chmodSync(join(folder, path), executable ? 0o755 : 0o644)
    const sha256 = createHash('sha256').update(content).digest('hex')
    return { path, bytes: content.length, sha256, executable }
  })
  const program = `touchstone ${version}`
  const manifest = { format: 1, flavour, program, machine: MACHINE, carriesNode, node, command, files }
  writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  return { ...manifest, directory: folder, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) }
}

function copyInto(from, to, wanted) {
  for (const path of filesIn(from)) {
    if (!wanted.test(path)) continue
    mkdirSync(dirname(join(to, path)), { recursive: true })
    copyFileSync(join(from, path), join(to, path))
  }
}

function* filesIn(folder, below = folder) {
  for (const name of readdirSync(below)) {
    const path = join(below, name)
    if (statSync(path).isDirectory()) yield* filesIn(folder, path)
    else yield relative(folder, path)
  }
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))
