import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TouchstoneError } from '../../ports/errors.ts'
import type { ProverRelease } from '../../ports/remoteBox.ts'
import { fault } from './faults.ts'

const MAX_MANIFEST_BYTES = 1024 * 1024
const PART = /^(?!\.{1,2}$)[A-Za-z0-9._@+-]{1,128}$/

type ReleaseFile = ProverRelease['files'][number]

/** Reads `manifest.json`: `{ "format": 1, "command": [...], "files": [{ path, bytes, sha256, executable }] }`. */
export async function readRelease(directory: string): Promise<ProverRelease> {
  const raw = await readFile(join(directory, 'manifest.json')).catch((error: Error) => {
    throw badRelease(directory, error.message)
  })
  if (raw.length > MAX_MANIFEST_BYTES) throw badRelease(directory, 'its manifest is longer than 1 MiB')
  const manifest = parseManifest(directory, raw.toString('utf8'))
  return { directory, id: createHash('sha256').update(raw).digest('hex'), ...manifest }
}

function parseManifest(directory: string, text: string): Pick<ProverRelease, 'files' | 'command'> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw badRelease(directory, 'its manifest is not JSON')
  }
  const { format, command, files } = asRecord(value)
  if (format !== 1) throw badRelease(directory, 'its manifest is not of format 1')
  if (!Array.isArray(command) || command.length === 0 || !command.every((part) => typeof part === 'string'))
    throw badRelease(directory, 'its manifest names no command')
  if (!Array.isArray(files) || files.length === 0) throw badRelease(directory, 'its manifest names no files')
  const parsed = files.map((file) => parseFile(directory, file))
  if (new Set(parsed.map((file) => file.path)).size !== parsed.length)
    throw badRelease(directory, 'its manifest names a file twice')
  return { command, files: parsed }
}

function parseFile(directory: string, value: unknown): ReleaseFile {
  const { path, bytes, sha256, executable } = asRecord(value)
  if (typeof path !== 'string' || !path.split('/').every((part) => PART.test(part)) || path === 'manifest.json')
    throw badRelease(directory, 'a file has an odd path')
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)
    throw badRelease(directory, `${path} has no length`)
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw badRelease(directory, `${path} has no hash`)
  return { path, bytes, sha256, executable: executable === true }
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const badRelease = (directory: string, why: string): TouchstoneError => fault('BAD_RELEASE', { directory, why })
