import { faultsOf, type TouchstoneError } from '../../../ports/errors.ts'
import { portFault } from '../../../ports/faults.ts'

/** Every fault of the CPU device. */
export const fault = faultsOf({
  CPU_THREAD_FAILED: {
    blame: 'prover',
    retry: true,
    message: 'a thread of the CPU device failed',
    nextStep: 'Open the device again; if it fails again, report it with the cause.',
  },
  NO_PEER_FILL: {
    blame: 'prover',
    message: 'the other device of the link is not a CPU device with a fill',
    nextStep: 'Call the device in the order that its port describes.',
  },
  OUT_OF_MEMORY: {
    blame: 'validator',
    retry: true,
    message: 'the CPU device was asked for {askedBytes} bytes, {freeBytes} are free',
    nextStep: 'Ask for a smaller size class, or free memory on the box.',
  },
})

export const sizeRefused = (what: string, got: number | string, expected: string): TouchstoneError =>
  portFault('SIZE_REFUSED', { device: 'the CPU device', what, got, expected })
