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

  test.each([
    [2, 'OUT_OF_MEMORY', 'nvidia-smi'],
    [46, 'GPU_BUSY', 'other process'],
    [100, 'NO_GPU', 'nvidia-smi -L'],
    [101, 'NO_SUCH_GPU', 'nvidia-smi -L'],
    [221, 'GPU_KERNEL_REFUSED', 'libnvidia-ptxjitcompiler'],
    [222, 'GPU_KERNEL_REFUSED', 'driver 470'],
    [702, 'GPU_LOST', 'without a display'],
    [801, 'GPU_DRIVER_TOO_OLD', 'driver 470'],
    [802, 'GPU_NOT_READY', 'nvidia-fabricmanager'],
    [803, 'GPU_DRIVER_MISMATCH', 'Reboot'],
    [804, 'GPU_DRIVER_MISMATCH', 'cuda-compat'],
  ])('status %i is %s, and what to do about it is its own', (status, code, step) => {
    const fault = cudaFault({ ...failed, status })
    expect(fault.detail.code).toBe(code)
    expect(fault.nextStep).toContain(step)
  })
})
