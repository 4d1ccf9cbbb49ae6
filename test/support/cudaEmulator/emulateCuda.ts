import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import koffi from 'koffi'
import type { CublasLt, MatmulOperands } from '../../../src/drivers/gpu/cuda/cublasLt.ts'
import type { CudaApi, Handle, Launch } from '../../../src/drivers/gpu/cuda/loadLibcuda.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const kernels = fileURLToPath(new URL('../../../kernels/', import.meta.url))

/** Why kernels cannot be emulated on this machine; null where they can. */
export function whyNoEmulator(): string | null {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it is written for linux x64'
  return spawnSync('clang-19', ['--version']).status === 0 ? null : 'clang-19 is not installed'
}

interface Emulator {
  find(name: string): Handle
  launch(kernel: Handle, blocks: number, matrices: number, threads: number, args: BigUint64Array): void
  allocate(bytes: number): Handle
  free(pointer: Handle): void
  copy(to: Handle | Uint8Array, from: Handle | Uint8Array, bytes: number): void
}

/** Compiles a kernel source for this machine and loads it. */
export function compileKernels(name: string): Emulator {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-emulator-'))
  try {
    // A file finds prelude.h in its own folder first, so the source moves to where ours is.
    copyFileSync(join(kernels, `cuda/${name}.cu`), join(folder, `${name}.cpp`))
    copyFileSync(join(here, 'prelude.h'), join(folder, 'prelude.h'))
    const flags = ['-shared', '-fPIC', '-O2', '-std=c++20', '-ffp-contract=off', `-I${join(kernels, 'common')}`]
    const sources = [join(folder, `${name}.cpp`), join(here, 'launch.cpp')]
    const built = join(folder, 'kernels.so')
    const done = spawnSync('clang-19', [...flags, ...sources, '-o', built, '-lm', '-ldl'], { encoding: 'utf8' })
    if (done.status !== 0) throw new Error(done.stderr)
    return bind(built)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function bind(path: string): Emulator {
  const library = koffi.load(path)
  const find = library.func('emulate_find', 'uint64_t', ['const char *'])
  const launch = library.func('emulate_launch', 'void', ['uint64_t', 'int', 'int', 'int', 'void *'])
  const allocate = library.func('emulate_allocate', 'uint64_t', ['uint64_t'])
  const free = library.func('emulate_free', 'void', ['uint64_t'])
  const upload = library.func('emulate_copy', 'void', ['uint64_t', 'const void *', 'uint64_t'])
  const download = library.func('void emulate_copy(_Out_ uint8_t *to, uint64_t from, uint64_t bytes)')
  const within = library.func('emulate_copy', 'void', ['uint64_t', 'uint64_t', 'uint64_t'])
  return {
    find: (name) => BigInt(find(name)),
    launch: (kernel, blocks, matrices, threads, args) => launch(kernel, blocks, matrices, threads, args),
    allocate: (bytes) => BigInt(allocate(bytes)),
    free: (pointer) => free(pointer),
    copy: (to, from, bytes) => {
      if (typeof to !== 'bigint') download(to, from, bytes)
      else if (typeof from !== 'bigint') upload(to, from, bytes)
      else within(to, from, bytes)
    },
  }
}

/** Calls the workload never makes. */
const unused = (): never => {
  throw new Error('the emulated driver cannot do this')
}

/** A driver whose card is this processor; counts what is allocated, so that leaks show. */
export function emulateDriver(emulator: Emulator): CudaApi & { readonly held: Set<Handle> } {
  const held = new Set<Handle>()
  const names = new Set(['deviceCount', 'useContext', 'closeContext', 'createStream', 'destroyStream', 'synchronize'])
  const own: Partial<CudaApi> & { held: Set<Handle> } = {
    held,
    allocate: (bytes) => {
      const pointer = emulator.allocate(bytes)
      held.add(pointer)
      return pointer
    },
    free: (pointer) => {
      if (!held.delete(pointer)) throw new Error('freed twice, or never allocated')
      emulator.free(pointer)
    },
    upload: (to, bytes) => emulator.copy(to, bytes, bytes.length),
    download: (from, length) => {
      const bytes = new Uint8Array(length)
      emulator.copy(bytes, from, length)
      return bytes
    },
    copyAsync: (to, from, bytes) => emulator.copy(to, from, bytes),
    loadModule: () => 1n,
    kernel: (_module, name) => emulator.find(name),
    launch: (launch: Launch) => {
      const args = new BigUint64Array(16)
      for (const [index, value] of launch.arguments.entries()) args[index] = BigInt(value)
      emulator.launch(launch.kernel, launch.blocks[0], launch.blocks[1], launch.threads, args)
    },
  }
  return new Proxy(own, {
    get: (target, name) => Reflect.get(target, name) ?? (names.has(String(name)) ? () => 1n : unused),
  }) as CudaApi & { readonly held: Set<Handle> }
}

/** A library that multiplies bf16 as its contract says: row-major C = A B^T, sums exact enough. */
export function emulateCublasLt(): CublasLt {
  return {
    version: 0,
    matmul: (operands) => ({ choices: 1, launch: () => multiply(operands), close: () => {} }),
    close: () => {},
  }
}

function multiply({ a, b, c, m, n, k, batch = 1 }: MatmulOperands): void {
  const [x, y] = [bf16At(a, batch * m * k), bf16At(b, batch * n * k)]
  const out = new Float32Array(koffi.view(c, 4 * batch * m * n))
  for (let one = 0; one < batch; one++)
    for (let i = 0; i < m; i++)
      for (let j = 0; j < n; j++) {
        let sum = 0
        for (let p = 0; p < k; p++) sum += x[(one * m + i) * k + p]! * y[(one * n + j) * k + p]!
        out[(one * m + i) * n + j] = sum
      }
}

function bf16At(pointer: Handle, count: number): Float32Array {
  const halves = new Uint16Array(koffi.view(pointer, 2 * count))
  return new Float32Array(Uint32Array.from(halves, (half) => (half << 16) >>> 0).buffer)
}
