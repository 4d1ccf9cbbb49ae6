import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLocalBox } from '../src/drivers/remote/local/openLocalBox.ts'
import { readRelease, releaseFlavours } from '../src/drivers/remote/readRelease.ts'
import { chooseKernels } from '../src/drivers/system/chooseKernels.ts'
import { type PackedRelease, packScripts } from './support/packProver.ts'
import { verifyTiny } from './support/verifyTiny.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const base = mkdtempSync(join(tmpdir(), 'touchstone-release-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const manifestOf = (folder: string) => readFileSync(join(folder, 'manifest.json'), 'utf8')
const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
const program = `touchstone ${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}`

let light: PackedRelease
beforeAll(async () => {
  const { packLight } = await packScripts()
  light = await packLight({ root, to: join(base, 'prover-light') })
})

describe('the light release', () => {
  test('is whole: every file has the length and hash of its manifest', async () => {
    const release = await readRelease(light.directory)
    const kernels = readdirSync(join(root, 'kernels/built')).map((name) => `kernels/built/${name}`)
    expect(release.files.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['prover.js', 'cpuWorker.js', ...kernels]),
    )
    for (const { path, bytes, sha256 } of release.files) {
      expect(readFileSync(join(light.directory, path)).length, path).toBe(bytes)
      expect(hashOf(join(light.directory, path)), path).toBe(sha256)
    }
  })

  const prove = (directory: string) => {
    const [, script = ''] = light.command
    const env = { PATH: '/nowhere', TOUCHSTONE_HOME: join(base, 'home') }
    const command = [process.execPath, join(directory, script), '--devices', 'cpu']
    return verifyTiny(openLocalBox({ command, env }), program)
  }

  test('proves a CPU from its own folder alone, as a child process, with the best kernels', async () => {
    const report = await prove(light.directory)
    expect(report.judgement.outcome).toBe('accepted')
    expect(report.inventory.program).toBe(program)
    const engine = (await chooseKernels({ environment: {} }))?.name ?? 'WebAssembly SIMD'
    expect(report.inventory.devices[0]?.details).toMatchObject({ engine })
  })

  test('proves a CPU with WebAssembly where its libraries are damaged or gone', async () => {
    const bare = join(base, 'bare')
    cpSync(light.directory, bare, { recursive: true })
    rmSync(join(bare, 'kernels/built/native-avx2.so'))
    writeFileSync(join(bare, 'kernels/built/native-avx512.so'), 'no library')
    const report = await prove(bare)
    expect(report.judgement.outcome).toBe('accepted')
    expect(report.inventory.devices[0]?.details).toMatchObject({ engine: 'WebAssembly SIMD' })
  })

  test('loads its native part from its own folder', () => {
    const ask = "import koffi from 'koffi'; console.log(koffi.load('libm.so.6').func('double cos(double)')(0))"
    const options = { cwd: light.directory, encoding: 'utf8' } as const
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', ask], options).stdout).toBe('1\n')
  })

  test('comes out the same twice, and the same as the one the build packs', async () => {
    const { packLight } = await packScripts()
    const again = await packLight({ root, to: join(base, 'again/prover-light') })
    expect(manifestOf(again.directory)).toBe(manifestOf(light.directory))
    const [first] = await releaseFlavours()
    expect(first).toMatchObject({ machine: 'x86_64', carriesNode: false })
    expect(manifestOf(first!.directory)).toBe(manifestOf(light.directory))
  })

  test('becomes one archive that unpacks to the same folder and never changes', async () => {
    const { archiveFolder } = await packScripts()
    const files = light.files.filter(({ bytes }) => bytes < 100_000)
    expect(files.length).toBeGreaterThan(8)
    const pack = (to: string) =>
      archiveFolder({ folder: light.directory, name: 'prover-light', files, to: join(base, to) })
    const archive = pack('one')
    expect(hashOf(archive)).toBe(hashOf(pack('two')))
    const unpacked = join(base, 'unpacked')
    mkdirSync(unpacked)
    expect(spawnSync('tar', ['-xf', archive, '-C', unpacked]).status).toBe(0)
    for (const { path } of files)
      expect(hashOf(join(unpacked, 'prover-light', path)), path).toBe(hashOf(join(light.directory, path)))
  })
})

/** The libraries of the running Node, where they lie; empty where ldd does not say. */
function librariesOfNode(): string[] {
  const said = spawnSync('ldd', [process.execPath], { encoding: 'utf8' }).stdout ?? ''
  return [...said.matchAll(/(\/\S+\.so\S*)/g)].map((match) => match[1]!)
}

function whyNoChroot(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the release is for linux x64'
  if (process.getuid?.() !== 0) return 'only root may change the root folder'
  if (librariesOfNode().length === 0) return 'ldd does not name the libraries of Node'
  const empty = join(base, 'empty')
  mkdirSync(empty, { recursive: true })
  const said = spawnSync('chroot', [empty, '/nothing'], { encoding: 'utf8' })
  return said.status === 127 && !/cannot change root/.test(said.stderr) ? null : 'chroot is not permitted here'
}

describe('the release that carries Node', () => {
  const why = whyNoChroot()
  if (why !== null) console.log(`release: the empty chroot is not tried: ${why}`)

  test.skipIf(why !== null)('proves a CPU in a root folder that holds nothing but it and the C libraries', async () => {
    const { packWithNode } = await packScripts()
    const jail = join(base, 'jail')
    const release = packWithNode({ light: light.directory, to: join(jail, 'prover-node') })
    for (const library of librariesOfNode()) {
      mkdirSync(dirname(join(jail, library)), { recursive: true })
      copyFileSync(library, join(jail, library))
    }
    const [node = '', script = ''] = release.command
    expect(existsSync(join(jail, 'proc'))).toBe(false)
    const inside = [`/prover-node/${node}`, `/prover-node/${script}`, '--devices', 'cpu']
    const env = { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin', TOUCHSTONE_HOME: '/home' }
    const report = await verifyTiny(openLocalBox({ command: ['chroot', jail, ...inside], env }), program)
    expect(report.judgement.outcome).toBe('accepted')
    const flavours = await releaseFlavours([base, jail])
    expect(flavours.map(({ carriesNode }) => carriesNode)).toEqual([false, true])
  })
})
