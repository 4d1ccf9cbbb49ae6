import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SFTPWrapper } from 'ssh2'
import { printable } from '../../../core/bytes/printable.ts'
import { fault } from '../faults.ts'
import type { ProverRelease } from '../readRelease.ts'
import { HASH_FILES, RECEIVE_FILE } from './boxScripts.ts'
import { runOnBox } from './runOnBox.ts'
import type { SshSession } from './sshSession.ts'
import type { Workspace } from './workspace.ts'

const HASH_LIMIT_MS = 120_000
const UPLOAD_LIMIT_MS = 600_000
/** Folders, inodes and rounding up, over the bytes of the files. */
const DISK_SLACK_BYTES = 1024 * 1024

type ReleaseFile = ProverRelease['files'][number]

/** Puts a release on the box, and returns its folder there. Uploads nothing that already lies there unchanged. */
export async function installRelease(
  { session, workspace, release, keep }: InstallPlan,
  signal: AbortSignal,
): Promise<{ readonly folder: string; readonly uploadedBytes: number }> {
  const files = [...release.files, await manifestOf(release)]
  const cached = `${workspace.base}/${release.id}`
  if (keep && (await firstDifference(session, cached, files, signal)) === null)
    return { folder: cached, uploadedBytes: 0 }
  const folder = `${workspace.folder}/release`
  const uploadedBytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const needed = uploadedBytes + DISK_SLACK_BYTES
  if (workspace.freeBytes !== null && workspace.freeBytes < needed)
    throw fault('BOX_DISK_FULL', {
      address: session.address,
      folder: workspace.folder,
      needBytes: needed,
      freeBytes: workspace.freeBytes,
    })
  const sftp = await openSftp(session, signal)
  try {
    if (sftp === null) await uploadByCommand({ session, release, files, folder }, signal)
    else await upload({ session, sftp, release, files, folder }, signal)
    const wrong = await firstDifference(session, folder, files, signal, sftp)
    if (wrong !== null) throw fault('PROVER_HASH_MISMATCH', { address: session.address, ...wrong })
    if (!keep || sftp === null) return { folder, uploadedBytes }
    const moving = moveIntoCache(sftp, folder, cached, `${workspace.folder}/replaced`)
    await session.within(moving, 'keeping the prover', signal)
    return { folder: cached, uploadedBytes }
  } finally {
    sftp?.end()
  }
}

/** Null where the server has no SFTP, as in a container or on a small server; commands will do then, without a cache. */
async function openSftp(session: SshSession, signal: AbortSignal): Promise<SFTPWrapper | null> {
  try {
    return await session.sftp('opening SFTP', signal)
  } catch (error) {
    if (fault.is(error, 'BOX_REFUSED')) return null
    throw error
  }
}

export interface InstallPlan {
  readonly session: SshSession
  readonly workspace: Workspace
  readonly release: ProverRelease
  readonly keep: boolean
}

/** The manifest travels too; the release's id is its hash. */
async function manifestOf(release: ProverRelease): Promise<ReleaseFile> {
  const { size } = await stat(join(release.directory, 'manifest.json'))
  return { path: 'manifest.json', bytes: size, sha256: release.id, executable: false }
}

interface Difference {
  readonly path: string
  readonly got: string
  readonly expected: string
}

/** Compares hashes on the box: with its own sha256sum, otherwise by reading the files back. */
async function firstDifference(
  session: SshSession,
  folder: string,
  files: readonly ReleaseFile[],
  signal: AbortSignal,
  sftp: SFTPWrapper | null = null,
): Promise<Difference | null> {
  const argv = ['sh', '-c', HASH_FILES, 'sh', folder, ...files.map((file) => file.path)]
  const { code, out } = await runOnBox(session, { argv, during: 'comparing hashes', limitMs: HASH_LIMIT_MS }, signal)
  const hashes = new Map<string, string>()
  for (const [, hash, path] of out.matchAll(/^([0-9a-f]{64}) [ *](.+)$/gm)) hashes.set(path!, hash!)
  for (const file of files) {
    const got =
      code === 127 && sftp !== null
        ? await hashOverSftp(session, sftp, `${folder}/${file.path}`, file.bytes, signal)
        : (hashes.get(file.path) ?? 'missing')
    if (got !== file.sha256) return { path: file.path, got: printable(got, 64), expected: file.sha256 }
  }
  return null
}

function hashOverSftp(
  session: SshSession,
  sftp: SFTPWrapper,
  path: string,
  bytes: number,
  signal: AbortSignal,
): Promise<string> {
  const hashed = new Promise<string>((resolve) => {
    const hash = createHash('sha256')
    // One byte more than expected is enough to see that a file is too long; the rest of it is never asked for.
    const stream = sftp.createReadStream(path, { end: bytes })
    stream.on('data', (chunk: Buffer) => hash.update(chunk))
    stream.once('error', () => resolve('missing'))
    stream.once('end', () => resolve(hash.digest('hex')))
  })
  return session.within(hashed, 'reading the prover back', signal, HASH_LIMIT_MS)
}

interface UploadPlan {
  readonly session: SshSession
  readonly sftp: SFTPWrapper
  readonly release: ProverRelease
  readonly files: readonly ReleaseFile[]
  readonly folder: string
}

async function upload({ session, sftp, release, files, folder }: UploadPlan, signal: AbortSignal): Promise<void> {
  const one = (path: string, act: (done: (error?: Error | null) => void) => void): Promise<void> => {
    const failed = (error: Error) => fault('BOX_UPLOAD_FAILED', { address: session.address, path }, error)
    const done = new Promise<void>((resolve, reject) => act((error) => (error ? reject(failed(error)) : resolve())))
    return session.within(done, 'uploading the prover', signal, UPLOAD_LIMIT_MS)
  }
  for (const path of foldersOf(files)) await one(path, (done) => sftp.mkdir(join(folder, path), { mode: 0o700 }, done))
  for (const file of files) {
    const options = { mode: file.executable ? 0o700 : 0o600, concurrency: 16 }
    await one(file.path, (done) =>
      sftp.fastPut(join(release.directory, file.path), `${folder}/${file.path}`, options, done),
    )
  }
}

/** The same through the standard input of a command, for servers without SFTP. */
async function uploadByCommand(
  { session, release, files, folder }: Omit<UploadPlan, 'sftp'>,
  signal: AbortSignal,
): Promise<void> {
  for (const file of files) {
    const mode = file.executable ? '700' : '600'
    const argv = ['sh', '-c', RECEIVE_FILE, 'sh', `${folder}/${file.path}`, mode]
    const input = await readFile(join(release.directory, file.path))
    const command = { argv, during: 'uploading the prover', input, limitMs: UPLOAD_LIMIT_MS }
    const { code, said } = await runOnBox(session, command, signal)
    if (code !== 0) throw fault('BOX_UPLOAD_FAILED', { address: session.address, path: file.path }, new Error(said))
  }
}

/** The release folder itself, then every folder below it, parents first. */
function foldersOf(files: readonly ReleaseFile[]): readonly string[] {
  const folders = new Set([''])
  for (const { path } of files) {
    const parts = path.split('/').slice(0, -1)
    parts.forEach((_, i) => {
      folders.add(parts.slice(0, i + 1).join('/'))
    })
  }
  return [...folders].sort()
}

/** A damaged old release goes into the workspace, which is removed; if another run was faster, its release serves as well. */
async function moveIntoCache(sftp: SFTPWrapper, from: string, to: string, aside: string): Promise<void> {
  const rename = (one: string, two: string): Promise<boolean> =>
    new Promise((resolve) => sftp.rename(one, two, (error) => resolve(!error)))
  if (await rename(from, to)) return
  await rename(to, aside)
  await rename(from, to)
}
