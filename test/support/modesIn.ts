import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Modes of a folder and everything in it, each once. */
export function modesIn(folder: string): Set<string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  return new Set(
    [folder, ...names].map((path) => {
      const found = lstatSync(path)
      return `${found.isDirectory() ? 'folder' : 'file'} ${(found.mode & 0o7777).toString(8)}`
    }),
  )
}
