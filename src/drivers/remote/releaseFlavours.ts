import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readRelease } from './readRelease.ts'
import type { ReleaseFlavour } from './ssh/connectSsh.ts'

/** What the build itself packs, so that a fresh clone needs no further step; then what `npm run release:prover` packs. */
const FOLDERS = ['../../../dist/release/', '../../../release/']
const NAMES = ['prover-light', 'prover-node']

/**
 * The prover releases at hand, ready for `connectSsh`. The first of each kind counts; one packed from other code than the
 * first is left out, so that a box never runs a prover older than its validator.
 */
export async function releaseFlavours(folders: readonly string[] = ownFolders()): Promise<ReleaseFlavour[]> {
  const found: Candidate[] = []
  for (const folder of folders)
    for (const name of NAMES) {
      const candidate = await readFlavour(join(folder, name))
      if (candidate === null || found.some(({ flavour }) => flavour.carriesNode === candidate.flavour.carriesNode))
        continue
      if (found.length === 0 || found[0]!.code === candidate.code) found.push(candidate)
    }
  return found.map(({ flavour }) => flavour)
}

const ownFolders = (): string[] => FOLDERS.map((folder) => fileURLToPath(new URL(folder, import.meta.url)))

interface Candidate {
  readonly flavour: ReleaseFlavour
  /** Hashes of everything but the Node it carries. */
  readonly code: string
}

/** Null where there is none; a release that is there but broken is a fault. */
async function readFlavour(directory: string): Promise<Candidate | null> {
  const text = await readFile(join(directory, 'manifest.json'), 'utf8').catch(() => null)
  if (text === null) return null
  const { files } = await readRelease(directory)
  const { machine, carriesNode } = JSON.parse(text) as { machine?: unknown; carriesNode?: unknown }
  const code = files.filter(({ path }) => !path.startsWith('bin/')).map(({ path, sha256 }) => `${sha256} ${path}`)
  const flavour = {
    directory,
    machine: typeof machine === 'string' ? machine : 'any',
    carriesNode: carriesNode === true,
  }
  return { flavour, code: code.sort().join('\n') }
}
