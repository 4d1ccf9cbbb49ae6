import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import { getAsset } from 'node:sea'
import { unpackProgram } from '../drivers/system/unpackProgram.ts'
import { cacheFolder } from '../drivers/system/xdgFolders.ts'
import { EXIT } from './exitCodes.ts'

/**
 * The first script of the single executable (`npm run release:executable`), bundled and embedded in a copy of Node. Node can
 * start neither threads nor native parts from inside itself, so the program lies unpacked in the cache. The executable
 * starts itself where the program starts a child: its first argument then is a script of that folder.
 */
function start(): void {
  const folder = unpackProgram(cacheFolder(process.env), getAsset('files.json', 'utf8'), () => getAsset('program.gz'))
  const [, , first = '', ...others] = process.argv
  const isOwnScript = first.startsWith(folder + sep)
  const script = isOwnScript ? first : join(folder, 'bin/touchstone.mjs')
  process.argv = [process.execPath, script, ...(isOwnScript ? others : process.argv.slice(2))]
  // An embedded script may not import; one on disk may.
  createRequire(script)(join(folder, 'start.cjs'))
}

try {
  start()
} catch (error) {
  console.error(`error: the program could not be unpacked: ${(error as Error).message} [NOT_UNPACKED]`)
  console.error('next: Give XDG_CACHE_HOME a folder of your own with 100 MB free, from which programs may be started.')
  process.exitCode = EXIT.fault
}
