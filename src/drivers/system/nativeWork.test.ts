import { expect, test } from 'vitest'
import { sameAsWasmSuite, WORK_MEMORY, workKernelsSuite } from '../../../test/suites/workKernelsSuite.ts'
import { nativeLibraries } from '../../../test/support/nativeLibraries.ts'

const libraries = await nativeLibraries()

for (const { file, native } of libraries) {
  const open = async () => {
    const memory = new Uint8Array(WORK_MEMORY)
    return { kernels: native.workOn(memory), memory, free: 64 }
  }
  workKernelsSuite(file, open)
  sameAsWasmSuite(file, open)
}

test('behavior: outside Linux on x86-64 there is no native library', () => {
  expect(libraries.length === 0).toBe(process.platform !== 'linux' || process.arch !== 'x64')
})
