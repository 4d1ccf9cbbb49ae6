import { xidText } from '../../../core/inventory/xidText.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import { portFault } from '../../../ports/faults.ts'
import { fault } from './faults.ts'
import type { Telemetry } from './telemetry.ts'

/** What went wrong in a call of NVIDIA's driver or library, and on which card. */
export interface FailedCall {
  readonly call: string
  readonly status: number
  readonly statusName: string
  readonly card: string
  readonly askedBytes?: number
  readonly freeBytes?: number
}

type Rows = typeof fault.rows
type CallCode = { [Code in keyof Rows]: Rows[Code]['message'] extends '{what}' ? Code : never }[keyof Rows]

interface Advice {
  readonly code: CallCode | 'GPU_BUSY'
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

const all = (statuses: readonly number[], advice: Advice): Record<number, Advice> =>
  Object.fromEntries(statuses.map((status) => [status, advice]))

/** Statuses of the CUDA driver that people meet, and what to do about them. Numbers are those of cuda.h. */
const ADVICE: Readonly<Record<number, Advice>> = {
  ...all([2, 205], FULL),
  ...all([209, 218, 222], JIT),
  ...all([220, 700, 710, 714, 715, 716, 717, 718, 719], LOST),
  46: {
    code: 'GPU_BUSY',
    says: 'the card is taken by another process (exclusive compute mode)',
    nextStep: 'Stop the other process or choose another card, then run again.',
  },
  100: { code: 'NO_GPU', says: 'the driver sees no card', nextStep: 'Check `nvidia-smi -L` on the box.' },
  101: {
    code: 'NO_SUCH_GPU',
    says: 'there is no card with that number',
    nextStep: 'Choose a number that `nvidia-smi -L` lists, counting only those CUDA_VISIBLE_DEVICES names.',
  },
  214: { ...LOST, says: 'the card reports an uncorrectable memory error' },
  221: {
    ...JIT,
    says: 'the driver has no compiler for our kernels here',
    nextStep: "Bring the driver's libnvidia-ptxjitcompiler into the container, as its compute capability does.",
  },
  223: { ...JIT, says: 'compiling kernels is switched off', nextStep: 'Unset CUDA_DISABLE_PTX_JIT and run again.' },
  702: {
    ...LOST,
    says: 'the driver stopped work that took too long, as it does on a card that drives a display',
    nextStep: 'Choose a card without a display, or ask for a smaller size.',
  },
  801: {
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
    code: 'GPU_DRIVER_MISMATCH',
    says: 'driver and kernel module differ in version',
    nextStep: 'Reboot the box, or reload the NVIDIA kernel module, so that both are the same version.',
  },
  804: {
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

/** The driver tells NVML of an error at about the time it fails our call, not always before. */
const WAIT_MS = 100

/** A lost card's fault, with the driver errors NVML heard of that card; anything else as it is. */
export function nameXids(error: unknown, telemetry: Telemetry | null): unknown {
  // A driver that has lost a card says so in several ways, "unknown error" among them.
  if (!fault.is(error, 'GPU_LOST', 'GPU_CALL_FAILED')) return error
  const xids = telemetry?.xids(WAIT_MS) ?? []
  if (xids.length === 0) return error
  const { message, blame, retry, nextStep, fleet, cause } = error
  return new TouchstoneError(
    { ...error.detail, xid: xids.join(' ') },
    {
      message: `${message}; the driver reported ${xids.map(xidText).join(', ')}`,
      blame,
      retry,
      nextStep,
      fleet,
      cause,
    },
  )
}
