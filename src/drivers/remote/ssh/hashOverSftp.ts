import { createHash } from 'node:crypto'
import type { SFTPWrapper } from 'ssh2'

/** Of a file there, as far as it was expected; `missing` where it cannot be read. */
export async function hashOverSftp(
  sftp: Pick<SFTPWrapper, 'createReadStream'>,
  path: string,
  bytes: number,
): Promise<string> {
  const hash = createHash('sha256')
  // One byte more than expected is enough to see that a file is too long; the rest of it is never asked for.
  const stream = sftp.createReadStream(path, { end: bytes })
  // It is closed after its last byte. A line that goes away before the box has said so is an error that nobody else hears,
  // and would end this process (attack 285).
  stream.on('error', () => {})
  try {
    for await (const chunk of stream) hash.update(chunk as Buffer)
    return hash.digest('hex')
  } catch {
    return 'missing'
  }
}
