import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Installed } from '../suites/installedSuite.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * What `npm pack` writes, as npm would install it in an empty folder: our files from the archive, and beside them the
 * packages that the lockfile has for a user, taken from this clone, since tests ask no registry.
 */
export function installPackage(folder: string): Installed {
  const packed = mkdtempSync(join(folder, 'packed-'))
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], root)
  const own = join(folder, 'node_modules/touchstone')
  mkdirSync(own, { recursive: true })
  const [archive = ''] = spawnSync('ls', [packed], { encoding: 'utf8' }).stdout.split('\n')
  run('tar', ['-xzf', join(packed, archive), '--strip-components=1'], own)
  const { packages } = JSON.parse(readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8'))
  const wanted = Object.entries<{ dev?: boolean }>(packages).filter(
    ([path, { dev }]) => !dev && path.lastIndexOf('node_modules/') === 0,
  )
  for (const [path] of wanted) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(root, path), join(folder, path))
  }
  return { command: [process.execPath, join(own, 'bin/touchstone.mjs')] }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}
