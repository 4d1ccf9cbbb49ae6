import { describe, expect, test } from 'vitest'
import { cudaFault } from './cudaFault.ts'

const failed = {
  call: 'cuLaunchKernel',
  status: 719,
  statusName: 'CUDA_ERROR_LAUNCH_FAILED',
  card: 'card 3 (NVIDIA X)',
}

describe('cudaFault', () => {
  test('names the card, the call and the status, and says what to do', () => {
    const fault = cudaFault(failed)
    expect(fault.message).toBe(
      'card 3 (NVIDIA X): the card stopped working: cuLaunchKernel returned 719 (CUDA_ERROR_LAUNCH_FAILED)',
    )
    expect(fault).toMatchObject({ detail: { code: 'GPU_LOST', status: 719 }, blame: 'prover', retry: false })
    expect(fault.nextStep).toContain('dmesg')
  })

  test('says what was asked and what was free when memory ran out', () => {
    const fault = cudaFault({ ...failed, call: 'cuMemAlloc', status: 2, askedBytes: 5000, freeBytes: 400 })
    expect(fault.detail.code).toBe('OUT_OF_MEMORY')
    expect(fault.message).toContain('asked for 5000 bytes, 400 free')
    expect(fault.retry).toBe(true)
  })

  test('keeps a status nobody foresaw apart from those with advice of their own', () => {
    expect(cudaFault({ ...failed, status: 12345 }).detail.code).toBe('GPU_CALL_FAILED')
  })
})
