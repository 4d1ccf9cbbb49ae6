import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { fault } from './faults.ts'

export interface KernelFilesOptions {
  /** Where the built kernels lie, when not in this package: a bundled release knows. */
  readonly folder?: string
}

/** A bundled release has its kernels beside the script; src/ and dist/ lie at the same depth below the package. */
const FOLDERS = ['./kernels/built/', '../../../kernels/built/']

/** Path of a built kernel (`engine.wasm`, `device.wasm`, a PTX file). */
export function kernelPath(name: string, { folder }: KernelFilesOptions = {}): string {
  const candidates = folder
    ? [`${folder}/${name}`]
    : FOLDERS.map((from) => fileURLToPath(new URL(from + name, import.meta.url)))
  const found = candidates.find((path) => existsSync(path))
  if (found) return found
  throw fault('KERNEL_FILE_MISSING', { name })
}

export async function readKernel(name: string, options: KernelFilesOptions = {}): Promise<Uint8Array> {
  return new Uint8Array(await readFile(kernelPath(name, options)))
}
