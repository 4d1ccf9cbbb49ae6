// One file out of a folder: a tar archive without dates and owners, so that the same folder gives the same bytes.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const BLOCK = 512

/** `files` are `{ path, executable }` below `folder`; all of them come to lie under `name/`. Returns the file it wrote. */
export function archiveFolder({ folder, name, files, to }) {
  const entries = files.map(({ path, executable }) =>
    entry(`${name}/${path}`, readFileSync(join(folder, path)), executable),
  )
  const tar = Buffer.concat([...entries.flat(), Buffer.alloc(2 * BLOCK)])
  // A fixed number of threads: the bytes depend on how the input is cut.
  const packed = spawnSync('xz', ['-6', '-T2', '--stdout'], { input: tar, maxBuffer: tar.length + 2 ** 20 })
  const archive = packed.status === 0 ? `${to}.tar.xz` : `${to}.tar.gz`
  writeFileSync(archive, packed.status === 0 ? packed.stdout : gzipSync(tar, { level: 9 }))
  return archive
}

function entry(path, content, executable) {
  if (path.length > 100) throw new Error(`${path} is too long a name for a plain archive`)
  const header = Buffer.alloc(BLOCK)
  header.write(path, 0, 'latin1')
  header.write(octal(executable ? 0o755 : 0o644, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(content.length, 12), 124)
  header.write(octal(0, 12), 136)
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257, 'latin1')
  header.write(octal(sum(header), 7), 148)
  return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]
}

const octal = (value, width) => `${value.toString(8).padStart(width - 1, '0')}\0`

const sum = (bytes) => bytes.reduce((total, byte) => total + byte, 0)
