import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { BoxAccess } from '../../ports/leases.ts'
import { lastWordsOf } from './accessFolder.ts'
import { confinedRun, containerAccess } from './containerAccess.ts'
import { fault } from './faults.ts'
import { ownAccount } from './ownAccount.ts'
import { type SharedAccountOptions, sharedAccount } from './sharedAccount.ts'

const run = promisify(execFile)
/** Cards may have to wake up. */
const TRIAL_LIMIT_MS = 30_000

export interface ChoiceOptions extends SharedAccountOptions {
  /** Image for leases, if the provider has prepared one; without it no container is used. */
  readonly image?: string
  readonly gpuFlags?: readonly string[]
  readonly isRoot: boolean
  readonly env: NodeJS.ProcessEnv
  /** `auto`, or what the provider insists on. */
  readonly wanted: Confinement | 'auto'
}

export type Confinement = 'container' | 'own account' | 'shared account'

export interface ChosenAccess {
  readonly access: BoxAccess
  readonly confinement: Confinement
  /** Why it is not a container although an image was named; empty otherwise. */
  readonly noContainer: string
}

/** The best confinement this box has: a container, else an account per lease, else our own account with a forced command. */
export async function chooseAccess(options: ChoiceOptions): Promise<ChosenAccess> {
  const { image, env, wanted, gpuFlags = [] } = options
  const searchPath = env.PATH ?? ''
  const may = (confinement: Confinement): boolean => wanted === 'auto' || wanted === confinement
  let why = ''
  if (image !== undefined && may('container')) {
    const found = await findEngine(searchPath, { image, gpuFlags })
    if (found.engine !== null) {
      const access = containerAccess({ ...options, engine: found.engine, image, gpuFlags })
      return { access, confinement: 'container', noContainer: '' }
    }
    why = found.why
  }
  if (may('own account') && options.isRoot && findProgram('useradd', searchPath) !== null)
    return { access: ownAccount(options), confinement: 'own account', noContainer: why }
  if (may('shared account')) return { access: sharedAccount(options), confinement: 'shared account', noContainer: why }
  throw fault('NO_SUCH_CONFINEMENT', { wanted, because: why === '' ? '' : `: ${why}` })
}

type Trial = { readonly engine: string; readonly why?: never } | { readonly engine: null; readonly why: string }

/** An engine counts if a container of the image, confined as for a lease and with the cards, runs to its end. */
async function findEngine(
  searchPath: string,
  wanted: { readonly image: string; readonly gpuFlags: readonly string[] },
): Promise<Trial> {
  const why: string[] = []
  for (const name of ['docker', 'podman']) {
    const engine = findProgram(name, searchPath)
    if (engine === null) continue
    try {
      await run(engine, confinedRun(wanted, [], ['exit 0']), { timeout: TRIAL_LIMIT_MS })
      return { engine }
    } catch (error) {
      why.push(`${name} cannot run one${lastWordsOf(error)}`)
    }
  }
  return { engine: null, why: why.length > 0 ? why.join('; ') : 'neither docker nor podman is installed' }
}

const findProgram = (name: string, searchPath: string): string | null =>
  searchPath
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path)) ?? null
