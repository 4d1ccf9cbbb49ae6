import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ProverRelease, readRelease } from './readRelease.ts'

/** What the build itself packs, so that a fresh clone needs no further step; then what `npm run release:prover` packs. */
const FOLDERS = ['../../../dist/release/', '../../../release/']
const NAMES = ['prover-light', 'prover-node']

/**
 * The prover releases at hand, ready for `connectSsh`. The first of each kind counts; one packed from other code than the
 * first is left out, so that a box never runs a prover older than its validator. One that is broken is a fault.
 */
export async function releaseFlavours(folders: readonly string[] = ownFolders()): Promise<ProverRelease[]> {
  const found: ProverRelease[] = []
  for (const folder of folders)
    for (const name of NAMES) {
      if (!existsSync(join(folder, name, 'manifest.json'))) continue
      const release = await readRelease(join(folder, name))
      if (found.some(({ carriesNode }) => carriesNode === release.carriesNode)) continue
      if (found.length === 0 || codeOf(found[0]!) === codeOf(release)) found.push(release)
    }
  return found
}

const ownFolders = (): string[] => FOLDERS.map((folder) => fileURLToPath(new URL(folder, import.meta.url)))

/** Hashes of everything but the Node it carries. */
const codeOf = ({ files }: ProverRelease): string =>
  files
    .filter(({ path }) => !path.startsWith('bin/'))
    .map(({ path, sha256 }) => `${sha256} ${path}`)
    .sort()
    .join('\n')
