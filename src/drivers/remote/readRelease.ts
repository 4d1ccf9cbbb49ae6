import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { fault } from './faults.ts'

const MAX_MANIFEST_BYTES = 1024 * 1024
const PART = /^(?!\.{1,2}$)[A-Za-z0-9._@+-]{1,128}$/

const file = z.object({
  path: z.string().refine((path) => path !== 'manifest.json' && path.split('/').every((part) => PART.test(part))),
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  executable: z.boolean(),
})

const manifest = z.object({
  format: z.literal(1),
  /** As `uname -m` says it, or `any`. */
  machine: z.string().default('any'),
  carriesNode: z.boolean().default(false),
  /** What starts it, relative to the release folder: either a Node of its own or the box's. */
  command: z.array(z.string()).min(1),
  files: z
    .array(file)
    .min(1)
    .refine((files) => new Set(files.map(({ path }) => path)).size === files.length, 'a file twice'),
})

/** One prover file set with its hashes: a directory that holds `manifest.json` and the files it names. */
export type ProverRelease = Readonly<z.infer<typeof manifest>> & {
  readonly directory: string
  /** SHA-256 of the manifest, hex: names the release, and its folder on the box. */
  readonly id: string
}

export async function readRelease(directory: string): Promise<ProverRelease> {
  try {
    const raw = await readFile(join(directory, 'manifest.json'))
    if (raw.length > MAX_MANIFEST_BYTES) throw new Error('its manifest is longer than 1 MiB')
    const id = createHash('sha256').update(raw).digest('hex')
    return { directory, id, ...decodeJson(raw, manifest, 'its manifest') }
  } catch (cause) {
    throw fault('BAD_RELEASE', { directory, why: (cause as Error).message }, cause)
  }
}

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
