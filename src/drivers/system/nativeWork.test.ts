import { expect, test } from 'vitest'
import { openWasmWork, sameAsWasmSuite, WORK_MEMORY, workKernelsSuite } from '../../../test/suites/workKernelsSuite.ts'
import { nativeLibraries } from '../../../test/support/nativeLibraries.ts'
import { openWasmStep } from '../../../test/support/stepMatrices.ts'
import { openWasmField } from '../../../test/support/sumcheckCheats.ts'
import { digestOfField, KNOWN_FIELD, KNOWN_FIELD_BYTES, requireKnownField } from './requireKnownField.ts'
import { digestOfStep, KNOWN_STEP, KNOWN_STEP_BYTES, requireKnownStep } from './requireKnownStep.ts'
import { digestOfWork, KNOWN_WORK, requireKnownWork } from './requireKnownWork.ts'

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

test('behavior: a library that does exact work otherwise than WebAssembly is refused', async () => {
  const { kernels, memory, free } = await openWasmWork()
  memory.fill(0, free)
  expect(digestOfWork(kernels, memory, free)).toBe(KNOWN_WORK)
  for (const { native } of libraries) {
    expect(() => requireKnownWork(native.workOn)).not.toThrow()
    const wrong = (bytes: Uint8Array) => ({ ...native.workOn(bytes), gelu: native.workOn(bytes).relu })
    expect(() => requireKnownWork(wrong)).toThrow('its exact work is wrong')
  }
})

test('behavior: a library that computes sumchecks otherwise than WebAssembly is refused', async () => {
  const { kernels, start, view, reserve } = await openWasmField()
  reserve(start + KNOWN_FIELD_BYTES)
  const memory = view(0, start + KNOWN_FIELD_BYTES)
  memory.fill(0, start)
  expect(digestOfField(kernels, memory, start)).toBe(KNOWN_FIELD)
  for (const { native } of libraries) {
    expect(() => requireKnownField(native.fieldOn)).not.toThrow()
    const wrong = (bytes: Uint8Array) => ({ ...native.fieldOn(bytes), sumcheckFold: () => 0 })
    expect(() => requireKnownField(wrong)).toThrow('its sumchecks are wrong')
  }
})

test('behavior: a library that computes transitions by sumcheck otherwise than WebAssembly is refused', async () => {
  const { kernels, start, view, reserve } = await openWasmStep()
  reserve(start + KNOWN_STEP_BYTES)
  const memory = view(0, start + KNOWN_STEP_BYTES)
  memory.fill(0, start)
  expect(digestOfStep(kernels, memory, start)).toBe(KNOWN_STEP)
  for (const { native } of libraries) {
    expect(() => requireKnownStep(native.stepOn)).not.toThrow()
    const wrong = (bytes: Uint8Array) => ({ ...native.stepOn(bytes), stepFold: () => 0 })
    expect(() => requireKnownStep(wrong)).toThrow('its transitions are wrong')
  }
})
