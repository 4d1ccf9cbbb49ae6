import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('./libcuda.c', import.meta.url))
const compiler = (): string | undefined =>
  ['cc', 'clang-19'].find((name) => spawnSync(name, ['--version']).status === 0)

/** Why there is no stand-in for the driver's library here; null where it can be built. */
export function whyNoStubDriver(): string | null {
  if (process.platform !== 'linux') return 'it is written for Linux'
  return compiler() === undefined ? 'no C compiler is installed' : null
}

/** Puts a libcuda.so.1 into the folder; a process with that folder in LD_LIBRARY_PATH finds it before any other. */
export function buildStubDriver(folder: string): void {
  const flags = ['-shared', '-fPIC', '-O1', '-Wl,-soname,libcuda.so.1']
  const done = spawnSync(compiler()!, [...flags, source, '-o', `${folder}/libcuda.so.1`], { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(done.stderr)
}
