import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Writes a prover release made of the given texts. */
export function makeRelease(
  directory: string,
  { files, command }: { files: Record<string, string>; command: readonly string[] },
): string {
  const listed = Object.entries(files).map(([path, text]) => {
    const target = join(directory, path)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
    chmodSync(target, 0o755)
    const sha256 = createHash('sha256').update(text).digest('hex')
    return { path, bytes: Buffer.byteLength(text), sha256, executable: text.startsWith('#!') }
  })
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify({ format: 1, command, files: listed }))
  return directory
}
