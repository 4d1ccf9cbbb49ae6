#!/usr/bin/env node
// Compiles kernels/ to kernels/built/: WebAssembly with clang-19 and wasm-ld-19, PTX with nvcc. Artifacts are committed,
// because users have neither compiler. `--check` builds aside and compares instead of writing; `--wasm` leaves PTX alone.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const built = join(here, 'built')

/** Every PTX file: its source under cuda/ and the oldest architecture that may load it. */
const PTX = [{ name: 'plain', arch: 'compute_75' }]

const CLANG = ['clang-19', '--target=wasm32', '-std=c17', '-O3', '-msimd128', '-mbulk-memory', '-ffp-contract=off']
CLANG.push('-nostdlib', '-ffreestanding', '-fno-builtin', '-Wall', '-Wextra', '-Werror')
// Exactness first: no contraction, no flush to zero, IEEE division and root.
const NVCC = ['nvcc', '-ptx', '--fmad=false', '--ftz=false', '--prec-div=true', '--prec-sqrt=true', '-O3']
const LINK = ['wasm-ld-19', '--no-entry', '--strip-all', '--stack-first', '-z', 'stack-size=524288']
LINK.push('--export=__heap_base', '--export=__stack_pointer')

/** Two modules from one source: one with its own memory, one on a memory shared by threads. */
const WASM = [
  { name: 'engine.wasm', compile: [], link: [] },
  {
    name: 'device.wasm',
    compile: ['-matomics'],
    link: ['--import-memory', '--shared-memory', `--max-memory=${2 ** 32}`],
  },
]

const wasmOnly = process.argv.includes('--wasm')

const has = (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).status === 0

/** Runs in kernels/ with relative names, so that no path of this machine reaches an artifact. */
function run([command, ...args]) {
  const done = spawnSync(command, args, { cwd: here, encoding: 'utf8' })
  if (done.status === 0) return done.stdout
  throw new Error(`${command} ${args.join(' ')}\n${done.error ?? ''}${done.stdout}${done.stderr}`)
}

function buildWasm(to) {
  const sources = readdirSync(join(here, 'wasm')).filter((name) => name.endsWith('.c'))
  for (const { name, compile, link } of WASM) {
    const objects = sources.sort().map((source) => ({ source: `wasm/${source}`, object: join(to, `${source}.o`) }))
    for (const { source, object } of objects) run([...CLANG, ...compile, '-c', source, '-o', object])
    run([...LINK, ...link, ...objects.map(({ object }) => object), '-o', join(to, name)])
    for (const { object } of objects) rmSync(object)
  }
  return WASM.map(({ name }) => name)
}

function buildPtx(to) {
  for (const { name, arch } of PTX) run([...NVCC, `-arch=${arch}`, `cuda/${name}.cu`, '-o', join(to, `${name}.ptx`)])
  return PTX.map(({ name }) => `${name}.ptx`)
}

/** PTX that no assembler takes is worth nothing: every architecture this nvcc knows, from the oldest allowed one on. */
function assemblePtx(from) {
  const known = run(['nvcc', '--list-gpu-arch']).split(/\s+/).filter(Boolean)
  for (const { name, arch } of PTX) {
    const oldest = Number(arch.slice(8))
    const targets = known.map((text) => Number(text.slice(8))).filter((number) => number >= oldest)
    for (const target of targets)
      run(['ptxas', `-arch=sm_${target}`, join(from, `${name}.ptx`), '-o', join(from, 'assembled.cubin')])
    rmSync(join(from, 'assembled.cubin'))
    console.log(`kernels: ${name}.ptx assembles for sm_${targets.join(', sm_')}`)
  }
}

const digest = (path) => createHash('sha256').update(readFileSync(path)).digest('hex')

function writeSums() {
  const names = readdirSync(built).filter((name) => /\.(wasm|ptx)$/.test(name))
  writeFileSync(
    join(built, 'SHA256SUMS'),
    names
      .sort()
      .map((name) => `${digest(join(built, name))}  ${name}\n`)
      .join(''),
  )
}

/** Artifacts that do not match their committed checksums, whatever compilers there are. */
function wrongSums() {
  const lines = readFileSync(join(built, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')
  return lines.filter((line) => digest(join(built, line.slice(66))) !== line.slice(0, 64)).map((line) => line.slice(66))
}

/** What differs from the committed artifacts, and what could not be compared for want of a compiler. */
function check(aside) {
  const made = []
  const skipped = []
  if (has('clang-19') && has('wasm-ld-19')) made.push(...buildWasm(aside))
  else skipped.push(...WASM.map(({ name }) => `${name}: clang-19 or wasm-ld-19 is not installed`))
  if (wasmOnly) skipped.push('PTX: --wasm was given')
  else if (has('nvcc')) made.push(...buildPtx(aside))
  else skipped.push(...PTX.map(({ name }) => `${name}.ptx: nvcc is not installed`))
  const changed = made.filter((name) => digest(join(aside, name)) !== digest(join(built, name)))
  const bad = [...new Set([...wrongSums(), ...changed])]
  for (const line of skipped) console.log(`kernels: skipped ${line}`)
  for (const name of made) console.log(`kernels: ${name} ${bad.includes(name) ? 'DIFFERS from its source' : 'matches'}`)
  for (const name of bad.filter((name) => !made.includes(name))) console.log(`kernels: ${name} DIFFERS from SHA256SUMS`)
  return bad.length === 0 ? 0 : 1
}

function build(aside) {
  const made = buildWasm(aside)
  if (wasmOnly) console.log('kernels: PTX not rebuilt: --wasm was given')
  else if (has('nvcc')) {
    made.push(...buildPtx(aside))
    assemblePtx(aside)
  } else console.log('kernels: PTX not rebuilt: nvcc is not installed')
  mkdirSync(built, { recursive: true })
  for (const name of made) writeFileSync(join(built, name), readFileSync(join(aside, name)))
  writeSums()
  for (const name of made) console.log(`kernels: ${name} ${readFileSync(join(built, name)).length} bytes`)
  return 0
}

const aside = mkdtempSync(join(tmpdir(), 'touchstone-kernels-'))
try {
  process.exitCode = process.argv.includes('--check') ? check(aside) : build(aside)
} catch (fault) {
  console.error(`kernels: ${fault.message}`)
  process.exitCode = 3
} finally {
  rmSync(aside, { recursive: true, force: true })
}
