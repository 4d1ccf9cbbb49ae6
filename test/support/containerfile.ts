import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Instruction {
  readonly name: string
  readonly text: string
}

const KNOWN = ['FROM', 'WORKDIR', 'COPY', 'ENV', 'RUN', 'USER', 'VOLUME', 'ENTRYPOINT', 'CMD']

/** The instructions of our Containerfile, one a line; one that the tests do not know fails them. */
export function readContainerfile(): readonly Instruction[] {
  const lines = readFileSync(join(root, 'Containerfile'), 'utf8').split('\n')
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', ...words] = line.split(' ')
      if (!KNOWN.includes(name)) throw new Error(`Containerfile: the tests do not know ${name}`)
      return { name, text: words.join(' ') }
    })
}

/** What the build sees of the clone. */
export function isInContext(path: string): boolean {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n').filter(Boolean)
  return !ignored.some((name) => path === name || path.startsWith(`${name}/`))
}

export interface LaidOut {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
}

/**
 * Follows the Containerfile without an engine: each stage is a plain folder that stands for its root, and absolute paths lead
 * below it. The base images are this machine, its packages come from this clone, and USER is whoever runs the test.
 */
export function layOut(folder: string): LaidOut {
  const stages = new Map<string, Stage>()
  let stage = new Stage(folder)
  for (const { name, text } of readContainerfile()) {
    if (name === 'FROM') {
      const called = / AS (\w+)$/.exec(text)?.[1] ?? 'last'
      stage = new Stage(join(folder, called))
      stages.set(called, stage)
    } else if (name === 'COPY') copy(text, stage, stages)
    else stage.follow(name, text)
  }
  return { command: stage.entry, env: stage.env, folder: stage.folder }
}

class Stage {
  readonly folder: string
  env: Record<string, string>
  entry: readonly string[] = []
  #workdir: string

  constructor(folder: string) {
    this.folder = folder
    this.#workdir = folder
    this.env = { PATH: `${join(folder, 'usr/local/bin')}:${process.env.PATH ?? ''}` }
    mkdirSync(folder, { recursive: true })
  }

  /** Where a path of the image lies. */
  at(path: string): string {
    return path.startsWith('/') ? join(this.folder, path) : join(this.#workdir, path)
  }

  follow(name: string, text: string): void {
    const own = `${process.getuid?.()}:${process.getgid?.()}`
    const placed = text.replaceAll(/(^|[\s=])\/(?=[a-z])/g, `$1${this.folder}/`).replace('1000:1000', own)
    if (name === 'ENV') for (const pair of placed.split(' ')) this.env[pair.split('=')[0]!] = pair.split('=')[1]!
    if (name === 'ENTRYPOINT') this.entry = JSON.parse(text)
    if (name === 'RUN') this.#run(placed)
    if (name === 'WORKDIR') {
      this.#workdir = this.at(text)
      mkdirSync(this.#workdir, { recursive: true })
    }
  }

  #run(command: string): void {
    const { HOME = '/' } = process.env
    const options = { cwd: this.#workdir, env: { HOME, ...this.env }, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], options)
    if (status !== 0) throw new Error(`RUN ${command}: ${stdout}${stderr}`)
  }
}

function copy(text: string, stage: Stage, stages: ReadonlyMap<string, Stage>): void {
  const [, from, what = '', to = ''] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(text) ?? []
  mkdirSync(dirname(stage.at(to)), { recursive: true })
  if (from !== undefined) {
    cpSync(stages.get(from)!.at(what), stage.at(to), { recursive: true })
    return
  }
  const filter = (path: string): boolean => isInContext(relative(root, path))
  cpSync(join(root, what), stage.at(to), { recursive: true, filter, verbatimSymlinks: true })
  // Tests ask no registry: what `npm ci` would install is here. Links where the disk is the same.
  const packages = [join(root, 'node_modules'), join(stage.at(to), 'node_modules')]
  if (spawnSync('cp', ['-al', ...packages]).status !== 0) spawnSync('cp', ['-a', ...packages])
}
