import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SFTPWrapper } from 'ssh2'
import { boxWords } from '../../../core/bytes/boxWords.ts'
import { printable } from '../../../core/bytes/printable.ts'
import { codeOf } from '../../system/codeOf.ts'
import { inTime } from '../../system/inTime.ts'
import { noRoom } from '../../system/noRoom.ts'
import { fault } from '../faults.ts'
import type { ProverRelease } from '../readRelease.ts'
import { HASH_FILES, RECEIVE_FILE, UNPACK_FILE } from './boxScripts.ts'
import { hashOverSftp } from './hashOverSftp.ts'
import type { SshSession } from './sshSession.ts'
import { runOnBox } from './startScript.ts'
import type { Workspace } from './workspace.ts'

const HASH_LIMIT_MS = 120_000
const UPLOAD_LIMIT_MS = 600_000
const CLOSE_LIMIT_MS = 5_000
/** Small files cost round trips rather than bytes; so many are on their way together. */
const FILES_AT_ONCE = 8
/** Folders, inodes and rounding up, over the bytes of the files. */
const DISK_SLACK_BYTES = 1024 * 1024

type ReleaseFile = ProverRelease['files'][number]

interface InstallPlan {
  readonly session: SshSession
  readonly workspace: Workspace
  readonly release: ProverRelease
  readonly keep: boolean
  onUpload(sent: number, of: number): void
}

/** A file of ours and how it travels: large ones are packed once, where the release was made. */
interface Parcel extends ReleaseFile {
  readonly packed: boolean
  readonly sentBytes: number
}

/** One set of files on its way into one folder of the box; by commands where there is no SFTP. */
interface Upload extends Pick<InstallPlan, 'session' | 'release'> {
  readonly sftp: SFTPWrapper | null
  readonly files: readonly Parcel[]
  onSent(bytes: number): void
  readonly folder: string
  readonly signal: AbortSignal
}

/** Puts a release on the box, and returns its folder there. Uploads nothing that already lies there unchanged. */
export async function installRelease(
  { session, workspace, release, keep, onUpload }: InstallPlan,
  signal: AbortSignal,
): Promise<{ readonly folder: string; readonly uploadedBytes: number }> {
  const files = await Promise.all([...release.files, await manifestOf(release)].map((file) => parcelOf(release, file)))
  const cached = `${workspace.base}/${release.id}`
  const uploadedBytes = files.reduce((sum, file) => sum + file.sentBytes, 0)
  let sent = 0
  const onSent = (bytes: number) => {
    sent += bytes
    onUpload(Math.min(sent, uploadedBytes), uploadedBytes)
  }
  const plan = { session, release, files, signal, onSent }
  if (keep && (await firstDifference({ ...plan, folder: cached, sftp: null })) === null)
    return { folder: cached, uploadedBytes: 0 }
  const folder = `${workspace.folder}/release`
  const needBytes = files.reduce((sum, { bytes, packed, sentBytes }) => sum + bytes + (packed ? sentBytes : 0), 0)
  ensureRoom(session.address, workspace, needBytes + DISK_SLACK_BYTES)
  const sftp = await openSftp(session, signal)
  const closed = sftp && new Promise<void>((resolve) => sftp.once('close', resolve))
  const isKept = keep && sftp !== null
  try {
    const upload = { ...plan, folder, sftp }
    if (sftp === null) await uploadByCommand(upload)
    else await uploadBySftp(upload, sftp)
    const wrong = await firstDifference(upload)
    if (wrong !== null) throw fault('PROVER_HASH_MISMATCH', { address: session.address, ...wrong })
    const moving = isKept && moveIntoCache(sftp, folder, cached, `${workspace.folder}/replaced`)
    if (moving) await session.within(moving, 'keeping the prover', signal)
  } finally {
    sftp?.end()
  }
  if (closed) await expectClosed(closed, session, signal)
  return { folder: isKept ? cached : folder, uploadedBytes }
}

/** Until the server has agreed, whatever it sends there is read as SFTP, also during the run (attack 440). */
async function expectClosed(closed: Promise<void>, session: SshSession, signal: AbortSignal): Promise<void> {
  const { address } = session
  const late = (): never => {
    session.abort()
    throw fault('SFTP_NOT_CLOSED', { address, limitMs: CLOSE_LIMIT_MS })
  }
  await inTime(Promise.race([closed, session.gone]), CLOSE_LIMIT_MS, late, signal)
  await session.expectLine('closing SFTP')
}

async function parcelOf({ directory }: ProverRelease, file: ReleaseFile): Promise<Parcel> {
  const packed = await stat(join(directory, `${file.path}.gz`)).catch(() => null)
  return { ...file, packed: packed !== null, sentBytes: packed?.size ?? file.bytes }
}

function ensureRoom(address: string, { folder, freeBytes }: Workspace, needBytes: number): void {
  if (freeBytes !== null && freeBytes < needBytes)
    throw fault('BOX_DISK_FULL', { address, folder: boxWords(printable(folder, 1024)), needBytes, freeBytes })
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

/** The manifest travels too; the release's id is its hash. */
async function manifestOf(release: ProverRelease): Promise<ReleaseFile> {
  const { size } = await stat(join(release.directory, 'manifest.json'))
  return { path: 'manifest.json', bytes: size, sha256: release.id, executable: false }
}

/** Compares hashes on the box: with its own sha256sum, otherwise by reading the files back. */
async function firstDifference(upload: Upload): Promise<{ path: string; got: string; expected: string } | null> {
  const { session, sftp, files, folder, signal } = upload
  const argv = ['sh', '-c', HASH_FILES, 'sh', folder, ...files.map((file) => file.path)]
  const { code, out } = await runOnBox(session, { argv, during: 'comparing hashes', limitMs: HASH_LIMIT_MS }, signal)
  const lines = out.matchAll(/^([0-9a-f]{64}) [ *](.+)$/gm)
  const hashes = new Map([...lines].map(([, hash, path]) => [path!, hash!]))
  for (const { path, bytes, sha256: expected } of files) {
    const readBack = (from: SFTPWrapper): Promise<string> =>
      session.within(hashOverSftp(from, `${folder}/${path}`, bytes), 'reading the prover back', signal, HASH_LIMIT_MS)
    const got = code === 127 && sftp !== null ? await readBack(sftp) : (hashes.get(path) ?? 'missing')
    if (got !== expected) return { path, got: printable(got, 64), expected }
  }
  return null
}

/** An error of our own system, whose codes are words, is about our own file: those of SFTP are numbers. */
function uploadFault({ session: { address }, release: { directory } }: Upload, path: string, error: Error) {
  const code = codeOf(error)
  if (!/^E[A-Z]/.test(code)) return fault('BOX_UPLOAD_FAILED', { address, path }, error)
  return noRoom(address, error) ?? fault('BAD_RELEASE', { directory, why: `${path} cannot be read (${code})` }, error)
}

async function uploadBySftp(upload: Upload, sftp: SFTPWrapper): Promise<void> {
  const { session, release, files, folder, signal, onSent } = upload
  const one = (path: string, act: (done: (error?: Error | null) => void) => void): Promise<void> => {
    const failed = (error: Error) => uploadFault(upload, path, error)
    const done = new Promise<void>((resolve, reject) => act((error) => (error ? reject(failed(error)) : resolve())))
    return session.within(done, 'uploading the prover', signal, UPLOAD_LIMIT_MS)
  }
  const put = (path: string, mode: number) => {
    const options = { mode, concurrency: 16, step: (_: number, bytes: number) => onSent(bytes) }
    return one(path, (done) => sftp.fastPut(join(release.directory, path), `${folder}/${path}`, options, done))
  }
  // The box's own spelling of a path, whatever this machine's is.
  for (const path of foldersOf(files)) await one(path, (done) => sftp.mkdir(`${folder}/${path}`, { mode: 0o700 }, done))
  const putParcel = async ({ path, executable, packed }: Parcel): Promise<void> => {
    const mode = executable ? 0o700 : 0o600
    if (packed) await put(`${path}.gz`, mode)
    if (!packed || !(await unpack(upload, path, mode))) await put(path, mode)
  }
  await forEachOf(files, FILES_AT_ONCE, putParcel)
}

/** So many at once. After the first failure none is begun, and those under way are waited for: none comes after the clean-up. */
async function forEachOf<T>(all: readonly T[], atOnce: number, act: (one: T) => Promise<void>): Promise<void> {
  const failures = new Map<number, unknown>()
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < all.length && failures.size === 0) {
      const at = next++
      await act(all[at]!).catch((error: unknown) => failures.set(at, error))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  // Of several the first of the list, so that the same trouble is told in the same words.
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()))
}

/** Whether the box could; where it has no gzip the file goes as it is. */
async function unpack({ session, folder, signal }: Upload, path: string, mode: number): Promise<boolean> {
  const argv = ['sh', '-c', UNPACK_FILE, 'sh', `${folder}/${path}`, mode.toString(8)]
  const command = { argv, during: 'unpacking the prover', limitMs: HASH_LIMIT_MS }
  return (await runOnBox(session, command, signal)).code === 0
}

/** The same through the standard input of a command. */
async function uploadByCommand(upload: Upload): Promise<void> {
  const { session, release, files, folder, signal, onSent } = upload
  const send = async (path: string, mode: number): Promise<void> => {
    const argv = ['sh', '-c', RECEIVE_FILE, 'sh', `${folder}/${path}`, mode.toString(8)]
    const input = await readFile(join(release.directory, path))
    const command = { argv, during: 'uploading the prover', input, limitMs: UPLOAD_LIMIT_MS }
    const { code, said } = await runOnBox(session, command, signal)
    if (code !== 0) throw fault('BOX_UPLOAD_FAILED', { address: session.address, path }, new Error(said))
    onSent(input.length)
  }
  for (const { path, executable, packed } of files) {
    const mode = executable ? 0o700 : 0o600
    if (packed) await send(`${path}.gz`, mode)
    if (!packed || !(await unpack(upload, path, mode))) await send(path, mode)
  }
}

/** The release folder itself, then every folder below it, parents first. */
function foldersOf(files: readonly ReleaseFile[]): readonly string[] {
  const above = (path: string): string[] => (path === '.' ? [''] : [...above(dirname(path)), path])
  return [...new Set(files.flatMap(({ path }) => above(dirname(path))))].sort()
}

/** A damaged old release goes into the workspace, which is removed; if another run was faster, its release serves as well. */
async function moveIntoCache(sftp: SFTPWrapper, from: string, to: string, aside: string): Promise<void> {
  const rename = (one: string, two: string): Promise<boolean> =>
    new Promise((resolve) => sftp.rename(one, two, (error) => resolve(!error)))
  if (await rename(from, to)) return
  await rename(to, aside)
  await rename(from, to)
}
