import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { whyNoOpenSsh } from './openSshServer.ts'

/** A real engine that holds an image of the tests. */
export interface ContainerEngine {
  readonly name: 'docker' | 'podman'
  readonly program: string
  readonly image: string
  /** What the engine prints; throws where it fails. */
  ask(...args: string[]): string
  /** Takes the image away again. */
  close(): void
}

/** What our scripts need on a box. */
const PROGRAMS = ['sh', 'sleep', 'mkdir', 'mv', 'cat', 'rm', 'chmod', 'id', 'uname', 'head', 'df', 'find', 'sha256sum']

export const NO_ENGINE =
  'neither podman nor docker runs a container here (the log says why); access.test.ts covers the logic with a stand-in'

/**
 * The engines that tests can lease with, behind a real SSH server, looked for one by one as they are asked for: podman on a
 * storage of its own inside the folder, and docker on whatever daemon answers. Each counts only if a container of an image
 * made here, from programs of this machine, runs to its end; what is missing is told.
 */
export function* runningEngines(folder: string, more: readonly string[] = []): Generator<ContainerEngine> {
  for (const name of ['podman', 'docker'] as const) {
    const program = findProgram(name, (process.env.PATH ?? '').split(delimiter))
    const engine = engineOf(name, program ?? name)
    const why = whyNoOpenSsh() ?? (program ? tryWithImage(engine, folder, more) : `${name} is not installed`)
    if (why === null) yield engine
    else console.log(`tests of leases with ${name} skipped: ${why}`)
  }
}

function tryWithImage(engine: ContainerEngine, folder: string, more: readonly string[]): string | null {
  const archive = join(folder, 'image.tar')
  const failed = existsSync(archive) ? null : makeImage([...PROGRAMS, ...more], join(folder, 'image'), archive)
  if (failed !== null) return failed
  const why = engine.name === 'podman' ? tryPodman(engine, archive, join(folder, 'podman')) : tryEngine(engine, archive)
  if (why !== null) engine.close()
  return why
}

function engineOf(name: ContainerEngine['name'], program: string): ContainerEngine {
  const image = `${name === 'podman' ? 'localhost/' : ''}touchstone-test:${process.pid}`
  const ask = (...args: string[]): string => {
    const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: 30_000 })
    if (status !== 0) throw new Error(`${name} ${args[0]}: ${error?.message ?? stderr.trim()}`)
    return stdout.trim()
  }
  const close = (): void => {
    const left = spawnSync(program, ['ps', '--all', '--quiet', '--filter', `ancestor=${image}`], { encoding: 'utf8' })
    for (const id of left.stdout.split('\n').filter(Boolean)) spawnSync(program, ['rm', '--force', id])
    spawnSync(program, ['rmi', '--force', image])
  }
  return { name, program, image, ask, close }
}

const tryEngine = ({ ask, image }: ContainerEngine, archive: string): string | null =>
  whyNot(() => ask('import', archive, image)) ?? whyNotRun({ ask, image })

const whyNotRun = ({ ask, image }: Pick<ContainerEngine, 'ask' | 'image'>): string | null =>
  whyNot(() => ask('run', '--rm', '--network', 'none', '--entrypoint', 'sh', image, '-c', ':'))

function whyNot(work: () => unknown): string | null {
  try {
    work()
    return null
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 300) : 'unknown'
  }
}

/** Not every sandbox lets the runtime that podman prefers set limits and control groups: then another one is asked. */
const OTHER_RUNTIME =
  '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nruntime = "runc"\n'

function tryPodman(engine: ContainerEngine, archive: string, folder: string): string | null {
  mkdirSync(folder, { recursive: true })
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const places = `graphroot = "${join(folder, 'root')}"\nrunroot = "${join(folder, 'run')}"\n`
  process.env.CONTAINERS_STORAGE_CONF = file('storage.conf', `[storage]\ndriver = "vfs"\n${places}`)
  if (tryEngine(engine, archive) === null) return null
  process.env.CONTAINERS_CONF = file('containers.conf', OTHER_RUNTIME)
  return whyNotRun(engine)
}

/** An image of a few programs of this machine and the libraries they need; no registry is asked. */
function makeImage(names: readonly string[], folder: string, archive: string): string | null {
  const copy = (from: string, to: string): void => {
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    copyFileSync(from, join(folder, to))
  }
  for (const name of names) {
    const program = findProgram(name, ['/usr/bin', '/bin', dirname(process.execPath)])
    if (program === undefined) return `no ${name} for an image`
    copy(program, join('bin', name))
    const listed = spawnSync('ldd', [program], { encoding: 'utf8' }).stdout
    for (const [library] of listed.matchAll(/\/\S+/g)) if (existsSync(library)) copy(library, library)
  }
  mkdirSync(join(folder, 'tmp'))
  const packed = spawnSync('tar', ['--owner=0', '--group=0', '-C', folder, '-cf', archive, '.'], { encoding: 'utf8' })
  return packed.status === 0 ? null : `tar: ${packed.stderr}`
}

const findProgram = (name: string, places: readonly string[]): string | undefined =>
  places.map((place) => join(place, name)).find((path) => existsSync(path))
