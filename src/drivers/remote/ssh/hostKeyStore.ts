import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type HostKeyLine, parseKnownHosts } from './knownHosts.ts'

/** Anything larger is not a known_hosts file. */
const MAX_BYTES = 16 * 1024 * 1024

async function readIfThere(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8')
    return text.length > MAX_BYTES ? '' : text
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

export async function readKnownHosts(paths: readonly string[]): Promise<readonly HostKeyLine[]> {
  return parseKnownHosts((await Promise.all(paths.map(readIfThere))).join('\n'))
}

/** Written aside and renamed, so that a crash leaves the old file or the new one. */
export async function rememberHostKey(path: string, line: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const before = await readIfThere(path)
  const aside = `${path}.${process.pid}.${Math.trunc(performance.now() * 1000)}`
  await writeFile(aside, before === '' || before.endsWith('\n') ? before + line : `${before}\n${line}`, { mode: 0o600 })
  await rename(aside, path)
}
