#!/usr/bin/env node
// Compiles kernels/ to kernels/built/: WebAssembly with clang-19 and wasm-ld-19, native libraries with clang-19 and
// ld.lld-19, PTX with clang-19 too (nvcc 13 writes PTX that older drivers refuse, and nothing below sm_75); ptxas proves
// it. Artifacts are committed, because users have no compiler. `--check` builds aside and compares instead of writing;
// `--no-ptx` leaves PTX alone. `--sums` compiles nothing: it holds artifacts and sources against their checksums.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const built = join(here, 'built')

/**
 * Every PTX file: its source under cuda/, the oldest card and the PTX version. PTX 6.4 loads from driver 418 on, 7.0 from
 * 450, 8.4 (fp8) from 550; a card that needs a newer one has a driver that knows it.
 */
const PTX = [
  { name: 'base', arch: 50, version: 'ptx64' },
  { name: 'entries16', arch: 60, version: 'ptx64' },
  { name: 'entries80', arch: 80, version: 'ptx70' },
  { name: 'memory', arch: 50, version: 'ptx64' },
  { name: 'paths', arch: 50, version: 'ptx64' },
  { name: 'plainProduct', arch: 50, version: 'ptx64' },
  { name: 'tensor75', arch: 75, version: 'ptx65' },
  { name: 'tensor80', arch: 80, version: 'ptx70' },
  { name: 'tensor89', arch: 89, version: 'ptx84' },
  { name: 'work', arch: 80, version: 'ptx70' },
  { name: 'workFused', arch: 80, version: 'ptx70' },
  { name: 'workDecode', arch: 80, version: 'ptx70' },
  { name: 'workField', arch: 80, version: 'ptx70' },
  { name: 'workPhases90', arch: 90, version: 'ptx80' },
]

const CLANG = ['clang-19', '--target=wasm32', '-std=c17', '-O3', '-msimd128', '-mbulk-memory', '-ffp-contract=off']
CLANG.push('-fno-math-errno', '-nostdlib', '-ffreestanding', '-fno-builtin', '-Wall', '-Wextra', '-Werror')
// Exactness first: no contraction; division and roots are IEEE by default, denormals are kept.
const CUDA = ['clang-19', '-x', 'cuda', '--cuda-device-only', '-nocudainc', '-nocudalib', '-Wno-unknown-cuda-version']
CUDA.push('-std=c++17', '-O3', '-ffp-contract=off', '-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter', '-S')
const LINK = ['wasm-ld-19', '--no-entry', '--strip-all', '--stack-first', '-z', 'stack-size=524288']
LINK.push('--export=__heap_base', '--export=__stack_pointer')

const namesIn = (folder) =>
  readdirSync(join(here, folder))
    .filter((name) => name.endsWith('.c'))
    .sort()
    .map((name) => `${folder}/${name}`)

/**
 * Modules from one source: one with its own memory; the same with relaxed SIMD, for those who can run it; one on a memory
 * shared by threads. The ops of exact work. And rounds of a processor's lane.
 */
const WASM = [
  { name: 'engine.wasm', sources: namesIn('wasm'), compile: [], link: [] },
  { name: 'engine-relaxed.wasm', sources: namesIn('wasm'), compile: ['-mrelaxed-simd'], link: [] },
  {
    name: 'device.wasm',
    sources: namesIn('wasm'),
    compile: ['-matomics'],
    link: ['--import-memory', '--shared-memory', `--max-memory=${2 ** 32}`],
  },
  { name: 'work.wasm', sources: [...namesIn('work'), 'wasm/product.c', 'wasm/memory.c'], compile: [], link: [] },
  { name: 'host.wasm', sources: namesIn('host'), compile: ['-fno-slp-vectorize'], link: [] },
]

/** Two libraries from one source; a file compiled for any x86-64 says which of them may run. */
const NATIVE = [
  { name: 'native-avx2.so', compile: ['-mavx2', '-mfma'], needs: [] },
  {
    name: 'native-avx512.so',
    compile: [
      '-mavx512f',
      '-mavx512bw',
      '-mavx512dq',
      '-mavx512vl',
      '-mavx512vnni',
      '-mfma',
      '-mprefer-vector-width=512',
    ],
    needs: ['-DTS_NEEDS_AVX512'],
  },
]
const X86 = [
  'clang-19',
  '--target=x86_64-linux-gnu',
  '-std=c17',
  '-O3',
  '-ffp-contract=off',
  '-fPIC',
  '-fvisibility=hidden',
]
X86.push(
  '-fno-math-errno',
  '-nostdlib',
  '-ffreestanding',
  '-fno-builtin',
  '-fno-stack-protector',
  '-fno-asynchronous-unwind-tables',
)
// Vectors wider than the processor's are handed to inlined functions alone.
X86.push('-fno-ident', '-Wall', '-Wextra', '-Werror', '-Wno-psabi')
/** Rounds of a lane: gathers would make them slow, and BMI saves an instruction of each lookup. */
const HOST = ['-fno-slp-vectorize', '-mbmi', '-mbmi2', '-mtune=skylake']
/** No build id, no name of a compiler or folder: the same source gives the same bytes. */
const LINK_X86 = ['ld.lld-19', '-shared', '--strip-all', '--build-id=none', '--hash-style=gnu', '-z', 'noexecstack']
LINK_X86.push('-z', 'now', '--no-undefined', '--gc-sections')

const noPtx = process.argv.includes('--no-ptx')

const has = (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).status === 0

/** Runs in kernels/ with relative names, so that no path of this machine reaches an artifact. */
function run([command, ...args]) {
  const done = spawnSync(command, args, { cwd: here, encoding: 'utf8' })
  if (done.status === 0) return done.stdout
  throw new Error(`${command} ${args.join(' ')}\n${done.error ?? ''}${done.stdout}${done.stderr}`)
}

function buildWasm(to) {
  for (const { name, sources, compile, link } of WASM) {
    const objects = sources.map((source) => ({ source, object: join(to, `${source.replace('/', '-')}.o`) }))
    for (const { source, object } of objects) run([...CLANG, ...compile, '-c', source, '-o', object])
    run([...LINK, ...link, ...objects.map(({ object }) => object), '-o', join(to, name)])
    for (const { object } of objects) rmSync(object)
  }
  return WASM.map(({ name }) => name)
}

function buildNative(to) {
  for (const { name, compile, needs } of NATIVE) {
    const objects = [...namesIn('native'), ...namesIn('work'), ...namesIn('host'), 'wasm/memory.c'].map((source) => ({
      source,
      object: join(to, `${source.replace('/', '-')}.o`),
      flags: source === 'native/cpu.c' ? needs : source.startsWith('host/') ? HOST : compile,
    }))
    for (const { source, object, flags } of objects) run([...X86, ...flags, '-c', source, '-o', object])
    run([...LINK_X86, `-soname=${name}`, ...objects.map(({ object }) => object), '-o', join(to, name)])
    for (const { object } of objects) rmSync(object)
  }
  return NATIVE.map(({ name }) => name)
}

function buildPtx(to) {
  for (const { name, arch, version } of PTX) {
    const out = join(to, `${name}.ptx`)
    run([...CUDA, `--cuda-gpu-arch=sm_${arch}`, `--cuda-feature=+${version}`, `cuda/${name}.cu`, '-o', out])
  }
  return PTX.map(({ name }) => `${name}.ptx`)
}

/** PTX that no assembler takes is worth nothing: some architecture of every generation ptxas knows, from the oldest on. */
function assemblePtx(from) {
  const known = [75, 80, 86, 89, 90, 100, 120]
  for (const { name, arch } of PTX) {
    const targets = known.filter((target) => target >= arch)
    for (const target of targets)
      run(['ptxas', `-arch=sm_${target}`, join(from, `${name}.ptx`), '-o', join(from, 'assembled.cubin')])
    rmSync(join(from, 'assembled.cubin'))
    console.log(`kernels: ${name}.ptx assembles for sm_${targets.join(', sm_')}`)
  }
}

/** Where a change of a source without a new build shows, compiler or not. */
const madeFrom = join(here, 'SOURCES.sha256')

/** Of every source and option that WebAssembly and the native libraries are made with. */
function sourcesDigest() {
  const hash = createHash('sha256')
  hash.update(JSON.stringify([CLANG, LINK, WASM, X86, LINK_X86, NATIVE, HOST]))
  for (const folder of ['common', 'common/work', 'host', 'native', 'wasm', 'work'])
    for (const name of readdirSync(join(here, folder)).sort())
      if (/\.[ch]$/.test(name)) hash.update(`${folder}/${name}\0`).update(readFileSync(join(here, folder, name)))
  return `${hash.digest('hex')}\n`
}

const digest = (path) => createHash('sha256').update(readFileSync(path)).digest('hex')

function writeSums() {
  const names = readdirSync(built).filter((name) => /\.(wasm|ptx|so)$/.test(name))
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

/** Whether artifacts and sources are those of the last build. */
function checkSums() {
  const bad = wrongSums().map((name) => `${name} DIFFERS from SHA256SUMS`)
  if (readFileSync(madeFrom, 'utf8') !== sourcesDigest()) bad.push('sources DIFFER from those of the last build')
  for (const line of bad) console.log(`kernels: ${line}; run npm run kernels`)
  return bad.length === 0 ? 0 : 1
}

/** What differs from the committed artifacts, and what could not be compared for want of a compiler. */
function check(aside) {
  const made = []
  const skipped = []
  if (has('clang-19') && has('wasm-ld-19')) made.push(...buildWasm(aside))
  else skipped.push(...WASM.map(({ name }) => `${name}: clang-19 or wasm-ld-19 is not installed`))
  if (has('clang-19') && has('ld.lld-19')) made.push(...buildNative(aside))
  else skipped.push(...NATIVE.map(({ name }) => `${name}: clang-19 or ld.lld-19 is not installed`))
  if (noPtx) skipped.push('PTX: --no-ptx was given')
  else if (has('clang-19')) made.push(...buildPtx(aside))
  else skipped.push(...PTX.map(({ name }) => `${name}.ptx: clang-19 is not installed`))
  const changed = made.filter((name) => digest(join(aside, name)) !== digest(join(built, name)))
  const bad = [...new Set([...wrongSums(), ...changed])]
  for (const line of skipped) console.log(`kernels: skipped ${line}`)
  for (const name of made) console.log(`kernels: ${name} ${bad.includes(name) ? 'DIFFERS from its source' : 'matches'}`)
  for (const name of bad.filter((name) => !made.includes(name))) console.log(`kernels: ${name} DIFFERS from SHA256SUMS`)
  return bad.length === 0 ? 0 : 1
}

function build(aside) {
  const made = [...buildWasm(aside), ...buildNative(aside)]
  if (noPtx) console.log('kernels: PTX not rebuilt: --no-ptx was given')
  else {
    made.push(...buildPtx(aside))
    if (has('ptxas')) assemblePtx(aside)
    else console.log('kernels: PTX not assembled: ptxas is not installed')
  }
  mkdirSync(built, { recursive: true })
  for (const name of made) writeFileSync(join(built, name), readFileSync(join(aside, name)))
  writeSums()
  writeFileSync(madeFrom, sourcesDigest())
  for (const name of made) console.log(`kernels: ${name} ${readFileSync(join(built, name)).length} bytes`)
  return 0
}

const aside = mkdtempSync(join(tmpdir(), 'touchstone-kernels-'))
try {
  if (process.argv.includes('--sums')) process.exitCode = checkSums()
  else process.exitCode = process.argv.includes('--check') ? check(aside) : build(aside)
} catch (fault) {
  console.error(`kernels: ${fault.message}`)
  process.exitCode = 3
} finally {
  rmSync(aside, { recursive: true, force: true })
}
