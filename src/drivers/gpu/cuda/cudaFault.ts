import type { TouchstoneError } from '../../../ports/errors.ts'
import { portFault } from '../../../ports/faults.ts'
import { fault } from './faults.ts'

/** What went wrong in a call of NVIDIA's driver or library, and on which card. */
export interface FailedCall {
  readonly call: string
  readonly status: number
  readonly statusName: string
  readonly card: string
  readonly askedBytes?: number
  readonly freeBytes?: number
}

interface Advice {
  readonly code:
    | 'GPU_BUSY'
    | 'GPU_CALL_FAILED'
    | 'GPU_DRIVER_MISMATCH'
    | 'GPU_DRIVER_TOO_OLD'
    | 'GPU_KERNEL_REFUSED'
    | 'GPU_LOST'
    | 'GPU_NOT_READY'
    | 'NO_GPU'
    | 'NO_SUCH_GPU'
    | 'OUT_OF_MEMORY'
  readonly says: string
  readonly nextStep: string
}

const LOST: Advice = {
  code: 'GPU_LOST',
  says: 'the card stopped working',
  nextStep: 'Look for Xid lines in the kernel log (dmesg), reset or replace the card, then run again.',
}
const JIT: Advice = {
  code: 'GPU_KERNEL_REFUSED',
  says: 'the driver refused our kernels',
  nextStep: 'Install NVIDIA driver 470 or newer; if it is newer already, report the status above.',
}
const BUSY: Advice = {
  code: 'GPU_BUSY',
  says: 'the card is taken by another process (exclusive compute mode)',
  nextStep: 'Stop the other process or choose another card, then run again.',
}
const FULL: Advice = {
  code: 'OUT_OF_MEMORY',
  says: 'the card has too little free memory',
  nextStep: 'Free memory on the card (nvidia-smi shows who holds it) or ask for a smaller size.',
}
const OTHER: Advice = {
  code: 'GPU_CALL_FAILED',
  says: 'a driver call failed',
  nextStep: 'Check the driver with nvidia-smi; if the card looks well there, report the status above.',
}

/** Statuses of the CUDA driver that people meet, and what to do about them. Numbers are those of cuda.h. */
const ADVICE: Readonly<Record<number, Advice>> = {
  2: FULL,
  3: OTHER,
  46: BUSY,
  100: { ...OTHER, code: 'NO_GPU', says: 'the driver sees no card', nextStep: 'Check `nvidia-smi -L` on the box.' },
  101: {
    ...OTHER,
    code: 'NO_SUCH_GPU',
    says: 'there is no card with that number',
    nextStep: 'Choose a number that `nvidia-smi -L` lists, counting only those CUDA_VISIBLE_DEVICES names.',
  },
  205: FULL,
  209: JIT,
  214: { ...LOST, says: 'the card reports an uncorrectable memory error' },
  218: JIT,
  220: LOST,
  221: {
    ...JIT,
    says: 'the driver has no compiler for our kernels here',
    nextStep: "Bring the driver's libnvidia-ptxjitcompiler into the container, as its compute capability does.",
  },
  222: JIT,
  223: { ...JIT, says: 'compiling kernels is switched off', nextStep: 'Unset CUDA_DISABLE_PTX_JIT and run again.' },
  700: LOST,
  702: {
    ...LOST,
    says: 'the driver stopped work that took too long, as it does on a card that drives a display',
    nextStep: 'Choose a card without a display, or ask for a smaller size.',
  },
  710: LOST,
  714: LOST,
  715: LOST,
  716: LOST,
  717: LOST,
  718: LOST,
  719: LOST,
  801: {
    ...OTHER,
    code: 'GPU_DRIVER_TOO_OLD',
    says: 'the driver does not know a call we need, or does not support it on this card',
    nextStep: 'Install NVIDIA driver 470 or newer; if it is newer already, report the call above.',
  },
  802: {
    code: 'GPU_NOT_READY',
    says: 'the cards of this box are not ready',
    nextStep: 'On a box with NVSwitch start nvidia-fabricmanager, in the version of the driver; then run again.',
  },
  803: {
    ...OTHER,
    code: 'GPU_DRIVER_MISMATCH',
    says: 'driver and kernel module differ in version',
    nextStep: 'Reboot the box, or reload the NVIDIA kernel module, so that both are the same version.',
  },
  804: {
    ...OTHER,
    code: 'GPU_DRIVER_MISMATCH',
    says: "CUDA's compatibility library is in the way, and this card does not support it",
    nextStep: "Take the folder of cuda-compat out of LD_LIBRARY_PATH, so that the driver's own libcuda is found.",
  },
}

/** A named fault for a failed call: which call, which card, what was asked and what was free, and what to do. */
export function cudaFault(failed: FailedCall): TouchstoneError {
  const advice = ADVICE[failed.status] ?? OTHER
  const memory =
    failed.askedBytes === undefined
      ? ''
      : `; asked for ${failed.askedBytes} bytes, ${failed.freeBytes ?? 'unknown'} free`
  const what = `${failed.card}: ${advice.says}: ${failed.call} returned ${failed.status} (${failed.statusName})${memory}`
  const facts = { ...failed, what, mend: advice.nextStep }
  return advice.code === 'GPU_BUSY' ? portFault(advice.code, facts) : fault(advice.code, facts)
}
