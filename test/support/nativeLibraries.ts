import { fileURLToPath } from 'node:url'
import { loadNativeKernels, type NativeKernels } from '../../src/drivers/system/nativeKernels.ts'

export interface RunnableLibrary {
  readonly file: string
  readonly native: NativeKernels
}

const FILES = ['native-avx2.so', 'native-avx512.so']

/** The libraries of kernels/native that this machine can run; none outside Linux on x86-64. */
export async function nativeLibraries(): Promise<RunnableLibrary[]> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return []
  const all = FILES.map(async (file) => ({
    file,
    native: await loadNativeKernels(fileURLToPath(new URL(`../../kernels/built/${file}`, import.meta.url))),
  }))
  return (await Promise.all(all)).filter(({ native }) => native.supported)
}
