import { describe, expect, test } from 'vitest'
import { openCpuTensors } from '../../src/drivers/gpu/cpu/workload/openCpuTensors.ts'
import type { TensorDevice } from '../../src/ports/tensorDevice.ts'
import { TENSOR_TRIALS, worstDifference } from '../support/tensorTrials.ts'

/** Every operation against f64, or against bf16 operands on the CPU for a device that rounds to those. */
export function tensorDeviceSuite(
  name: string,
  open: () => Promise<TensorDevice>,
  tolerance: { readonly single: number; readonly deep: number },
): void {
  describe(`${name} is a tensor device`, () => {
    test.each(TENSOR_TRIALS.map((trial) => [trial.name, trial] as const))('%s', async (_name, trial) => {
      const device = await open()
      try {
        const reference = openCpuTensors({ operands: device.operands === 'bf16' ? 'bf16' : 'f64' })
        const worst = worstDifference(await trial.run(device), await trial.run(reference))
        expect(worst).toBeLessThanOrEqual(trial.deep ? tolerance.deep : tolerance.single)
      } finally {
        await device.close()
      }
    })
  })
}
