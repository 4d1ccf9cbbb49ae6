import fs from 'node:fs'
import type { Attributes, SFTPWrapper } from 'ssh2'
import ssh2 from 'ssh2'

const { STATUS_CODE, flagsToString } = ssh2.utils.sftp

export interface SftpOptions {
  readonly failWrites?: boolean
  readonly onOpenFiles?: (count: number) => void
}

/** The SFTP half of the test server: real files, paths as the client says them. `failWrites` stands in for a full disk. */
export function serveSftp(sftp: SFTPWrapper, options: SftpOptions = {}): void {
  const handles = new Map<number, number>()
  let next = 0
  const statusOf = (error: NodeJS.ErrnoException | null): number => {
    if (error === null) return STATUS_CODE.OK
    if (error.code === 'ENOENT') return STATUS_CODE.NO_SUCH_FILE
    return error.code === 'EACCES' ? STATUS_CODE.PERMISSION_DENIED : STATUS_CODE.FAILURE
  }
  const fdOf = (handle: Buffer): number => handles.get(handle.readUInt32BE(0)) ?? -1
  const finish = (id: number) => (error: NodeJS.ErrnoException | null) => sftp.status(id, statusOf(error))
  const asAttributes = (stat: fs.Stats): Attributes => ({
    mode: stat.mode,
    uid: stat.uid,
    gid: stat.gid,
    size: stat.size,
    atime: stat.atimeMs / 1000,
    mtime: stat.mtimeMs / 1000,
  })
  sftp.on('OPEN', (id, path, flags, attributes) => {
    fs.open(path, flagsToString(flags) ?? 'r', attributes.mode || 0o600, (error, fd) => {
      if (error) return finish(id)(error)
      const handle = Buffer.alloc(4)
      handle.writeUInt32BE(next)
      handles.set(next++, fd)
      options.onOpenFiles?.(handles.size)
      sftp.handle(id, handle)
    })
  })
  sftp.on('WRITE', (id, handle, offset, data) => {
    if (options.failWrites) return sftp.status(id, STATUS_CODE.FAILURE)
    fs.write(fdOf(handle), data, 0, data.length, offset, finish(id))
  })
  sftp.on('READ', (id, handle, offset, length) => {
    const buffer = Buffer.alloc(Math.min(length, 256 * 1024))
    fs.read(fdOf(handle), buffer, 0, buffer.length, offset, (error, got) => {
      if (error) return finish(id)(error)
      if (got === 0) return sftp.status(id, STATUS_CODE.EOF)
      sftp.data(id, buffer.subarray(0, got))
    })
  })
  sftp.on('FSTAT', (id, handle) => {
    fs.fstat(fdOf(handle), (error, stat) => (error ? finish(id)(error) : sftp.attrs(id, asAttributes(stat))))
  })
  sftp.on('FSETSTAT', (id, handle, attributes) => {
    if (attributes.mode === undefined) return sftp.status(id, STATUS_CODE.OK)
    fs.fchmod(fdOf(handle), attributes.mode & 0o7777, finish(id))
  })
  sftp.on('CLOSE', (id, handle) => {
    const fd = fdOf(handle)
    handles.delete(handle.readUInt32BE(0))
    options.onOpenFiles?.(handles.size)
    fs.close(fd, finish(id))
  })
  // As sshd does, and as the protocol wants it; the library leaves it to its user.
  sftp.on('end', () => sftp.end())
  sftp.on('MKDIR', (id, path, attributes) => fs.mkdir(path, { mode: attributes.mode || 0o700 }, finish(id)))
  // Like OpenSSH: a rename never replaces what is there.
  sftp.on('RENAME', (id, from, to) => {
    if (fs.existsSync(to)) return sftp.status(id, STATUS_CODE.FAILURE)
    fs.rename(from, to, finish(id))
  })
}
