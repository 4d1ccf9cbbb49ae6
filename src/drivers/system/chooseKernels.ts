import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ENGINE_BYTES, engineOn } from '../../core/engine/engineOn.ts'
import type { TileEngine } from '../../core/proof/tileEngine.ts'
import { fault } from './faults.ts'
import { type KernelFilesOptions, kernelPath } from './kernelFiles.ts'
import { loadNativeKernels } from './nativeKernels.ts'
import { requireKnownField } from './requireKnownField.ts'
import { requireKnownStep } from './requireKnownStep.ts'
import { requireKnownTiles } from './requireKnownTiles.ts'
import { requireKnownWork } from './requireKnownWork.ts'

/** A library of kernels/native that was found to be right on this machine. */
export interface NativeLibrary {
  readonly name: string
  readonly path: string
}

/** The better first. */
const LIBRARIES = [
  { engine: 'avx512', name: 'AVX-512', file: 'native-avx512.so' },
  { engine: 'avx2', name: 'AVX2', file: 'native-avx2.so' },
] as const

/** Which kernels to look for, and where. */
export interface KernelChoice extends KernelFilesOptions {
  readonly environment?: { readonly TOUCHSTONE_ENGINE?: string | undefined }
  readonly say?: (line: string) => void
}

const chosen = new Map<string, Promise<NativeLibrary | null>>()

/**
 * The native kernels to compute with; null means WebAssembly, which runs everywhere and gives the same bits.
 * TOUCHSTONE_ENGINE names one: wasm, avx2 or avx512. A library that is wrong is said so in one line and not used.
 */
export async function chooseKernels(options: KernelChoice = {}): Promise<NativeLibrary | null> {
  const { environment = process.env, folder = '' } = options
  const asked = environment.TOUCHSTONE_ENGINE ?? ''
  const key = JSON.stringify([asked, folder])
  const choice = chosen.get(key) ?? choose(asked, options)
  chosen.set(key, choice)
  return await choice
}

async function choose(asked: string, { say = sayOnStderr, ...files }: KernelChoice): Promise<NativeLibrary | null> {
  if (!['', 'wasm', ...LIBRARIES.map(({ engine }) => engine)].includes(asked)) throw fault('ENGINE_UNKNOWN', { asked })
  if (asked === 'wasm' || process.platform !== 'linux' || process.arch !== 'x64') return null
  for (const { engine, name, file } of LIBRARIES) {
    if (asked !== '' && asked !== engine) continue
    try {
      const path = kernelPath(file, files)
      await requireKnownFile(path, file)
      const kernels = await loadNativeKernels(path)
      if (kernels.supported) {
        requireKnownTiles(kernels)
        requireKnownWork(kernels.workOn)
        requireKnownField(kernels.fieldOn)
        requireKnownStep(kernels.stepOn)
        return { name, path }
      }
    } catch (error) {
      say(`touchstone: ${file} is not used: ${error instanceof Error ? error.message.split('\n')[0] : error}`)
    }
  }
  return null
}

const sayOnStderr = (line: string): void => void process.stderr.write(`${line}\n`)

/** A library that is not the one we built could do anything once it is loaded. */
async function requireKnownFile(path: string, file: string): Promise<void> {
  const sums = await readFile(join(dirname(path), 'SHA256SUMS'), 'utf8')
  const sum = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
  if (!sums.split('\n').includes(`${sum}  ${file}`)) throw new Error('its checksum is not in SHA256SUMS')
}

/** The verifier's engine on native kernels, in this thread. */
export async function openNativeEngine({ path }: NativeLibrary): Promise<TileEngine> {
  const memory = new Uint8Array(ENGINE_BYTES)
  return engineOn((await loadNativeKernels(path)).on(memory), memory.buffer, 0)
}
