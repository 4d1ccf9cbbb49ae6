import { faultsOf } from '../../../ports/errors.ts'

/** Every fault of the CPU device. */
export const fault = faultsOf({
  CPU_THREAD_FAILED: {
    blame: 'prover',
    retry: true,
    message: 'a thread of the CPU device failed',
    nextStep: 'Open the device again; if it fails again, report it with the cause.',
  },
  OUT_OF_MEMORY: {
    blame: 'validator',
    retry: true,
    message: 'the CPU device was asked for {askedBytes} bytes, {freeBytes} are free',
    nextStep: 'Ask for a smaller size class, or free memory on the box.',
  },
})
