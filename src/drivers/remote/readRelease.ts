import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
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
