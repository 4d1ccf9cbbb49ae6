import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { noRoom } from '../system/noRoom.ts'
import { bareNode } from './bareNode.ts'
import { elfNeeds } from './elfNeeds.ts'
import { fault } from './faults.ts'
import { type ProverRelease, releaseFlavours } from './readRelease.ts'
import type { ReleaseFlavour } from './ssh/connectSsh.ts'

/** What a Node may ask of the box: glibc and the C++ runtime, which every machine with an NVIDIA driver has. */
const BOX_LIBRARIES = /^(ld-linux-x86-64|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|atomic))\.so/

/** Beside our own command where we are a single executable, which brings it for the Node inside. */
const OWN_LICENCE = fileURLToPath(new URL('../../../bin/LICENSE', import.meta.url))

/** The Node that runs this program, where a box could run it too. */
const ownNode = (): string | null => (process.platform === 'linux' && process.arch === 'x64' ? process.execPath : null)

/** The provers at hand, and one that brings a Node along, made when the first box needs it and kept in `cache`. */
export async function proverFlavours(
  cache: string,
  node: string | null = ownNode(),
): Promise<readonly ReleaseFlavour[]> {
  const found = await releaseFlavours()
  const light = found.find(({ carriesNode }) => !carriesNode)
  if (light === undefined || node === null || found.some(({ carriesNode }) => carriesNode)) return found
  const directory = () => carryNode(light, node, cache)
  return [...found, { machine: light.machine, carriesNode: true, directory }]
}

/** The light release and a Node beside it, in a folder of `cache` that is named by both. */
export async function carryNode(light: ProverRelease, node: string, cache: string): Promise<string> {
  const program = await readProgram(node)
  const key = createHash('sha256').update(light.id).update(program).digest('hex').slice(0, 32)
  const folder = join(cache, `prover-${key}`)
  if (existsSync(join(folder, 'manifest.json'))) return folder
  const making = `${folder}.${randomBytes(6).toString('hex')}`
  try {
    for (const { path } of light.files) await copyInto(join(light.directory, path), join(making, path))
    const files = [...light.files, ...(await addNode(making, node, program))].sort((a, b) => (a.path < b.path ? -1 : 1))
    const { format, machine } = light
    const command = ['bin/node', ...light.command.slice(1)]
    await writeFile(
      join(making, 'manifest.json'),
      JSON.stringify({ format, machine, carriesNode: true, command, files }),
    )
    // Whoever was faster made the same.
    await rename(making, folder).catch(() => {})
  } finally {
    await rm(making, { recursive: true, force: true })
  }
  return folder
}

async function readProgram(node: string): Promise<Buffer> {
  const program = await readFile(node).then(bareNode, (cause: Error) => {
    throw noRoom(node, cause) ?? fault('NODE_UNFIT', { node, why: cause.message }, cause)
  })
  const needs = elfNeeds(program)
  if (needs === null) throw fault('NODE_UNFIT', { node, why: 'it is no program for Linux on x86-64' })
  const foreign = needs.filter((name) => !BOX_LIBRARIES.test(name))
  if (foreign.length > 0) throw fault('NODE_UNFIT', { node, why: `it needs ${foreign.join(', ')}` })
  return program
}

/** Without its symbols where somebody can take them away, and compressed beside itself for the way to the box. */
async function addNode(folder: string, node: string, program: Buffer): Promise<ProverRelease['files']> {
  const own = join(folder, 'bin/node')
  await mkdir(dirname(own), { recursive: true })
  await writeFile(own, program)
  await promisify(execFile)('strip', [own]).catch(() => {})
  await chmod(own, 0o755)
  const content = await readFile(own)
  await writeFile(`${own}.gz`, await promisify(gzip)(content, { level: 6 }))
  const near = ['../../LICENSE', '../../share/doc/nodejs/LICENSE'].map((path) => resolve(node, path))
  const licence = [...near, OWN_LICENCE].find(existsSync)
  if (licence !== undefined) await copyFile(licence, join(folder, 'bin/LICENSE'))
  const added = [
    { path: 'bin/node', executable: true },
    ...(licence ? [{ path: 'bin/LICENSE', executable: false }] : []),
  ]
  return await Promise.all(
    added.map(async ({ path, executable }) => {
      const bytes = await readFile(join(folder, path))
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      return { path, bytes: (await stat(join(folder, path))).size, sha256, executable }
    }),
  )
}

async function copyInto(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  await copyFile(from, to)
}
