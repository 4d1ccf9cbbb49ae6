import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** A folder for PATH with every program of this machine but Node, as on a box that has none. */
export function pathWithoutNode(folder: string): string {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync('/usr/bin'))
    if (!/^(node|nodejs|npm|npx)$/.test(name)) symlinkSync(join('/usr/bin', name), join(folder, name))
  return folder
}
