import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { TouchstoneError } from '../../ports/errors.ts'
import type { BoxAccess } from '../../ports/leases.ts'
import { containerAccess } from './containerAccess.ts'
import { ownAccount } from './ownAccount.ts'
import { type SharedAccountOptions, sharedAccount } from './sharedAccount.ts'

const run = promisify(execFile)
const PROBE_LIMIT_MS = 5_000

export interface ChoiceOptions extends SharedAccountOptions {
  /** Image for leases, if the provider has prepared one; without it no container is used. */
  readonly image?: string
  readonly gpuFlags?: readonly string[]
  readonly isRoot: boolean
  readonly searchPath: string
  /** `auto`, or what the provider insists on. */
  readonly wanted: Confinement | 'auto'
}

export type Confinement = 'container' | 'own account' | 'shared account'

export interface ChosenAccess {
  readonly access: BoxAccess
  readonly confinement: Confinement
}

/** The best confinement this box has: a container, else an account per lease, else our own account with a forced command. */
export async function chooseAccess(options: ChoiceOptions): Promise<ChosenAccess> {
  const { image, searchPath, wanted } = options
  const may = (confinement: Confinement): boolean => wanted === 'auto' || wanted === confinement
  const engine = image === undefined || !may('container') ? null : await findEngine(searchPath, image)
  if (engine !== null && image !== undefined) {
    const access = containerAccess({ ...options, engine, image, gpuFlags: options.gpuFlags ?? [] })
    return { access, confinement: 'container' }
  }
  if (may('own account') && options.isRoot && findProgram('useradd', searchPath) !== null)
    return { access: ownAccount(options), confinement: 'own account' }
  if (may('shared account')) return { access: sharedAccount(options), confinement: 'shared account' }
  throw new TouchstoneError(
    { code: 'NO_SUCH_CONFINEMENT', wanted },
    {
      message: `this box cannot give leases into a ${wanted}`,
      blame: 'user',
      retry: false,
      nextStep: 'A container needs docker or podman running and --image; an account of its own needs root and useradd.',
    },
  )
}

/** An engine counts if it answers and holds the image. */
async function findEngine(searchPath: string, image: string): Promise<string | null> {
  for (const name of ['docker', 'podman']) {
    const program = findProgram(name, searchPath)
    if (program === null) continue
    const answers = run(program, ['image', 'inspect', image], { timeout: PROBE_LIMIT_MS, maxBuffer: 4 * 1024 * 1024 })
    if (
      await answers.then(
        () => true,
        () => false,
      )
    )
      return program
  }
  return null
}

const findProgram = (name: string, searchPath: string): string | null =>
  searchPath
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path)) ?? null
