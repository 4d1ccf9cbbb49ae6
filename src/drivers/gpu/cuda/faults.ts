import { faultsOf } from '../../../ports/errors.ts'

/** Every fault of NVIDIA cards that is not one of every device. */
export const fault = faultsOf({
  CUBLASLT_FAILED: {
    blame: 'prover',
    message: 'cuBLASLt: {call} returned {status}',
    nextStep: 'Set TOUCHSTONE_CUBLASLT=none to use our own kernels, or install the cuBLASLt that fits the driver.',
  },
  GPU_RUN_STOPPED: {
    blame: 'prover',
    retry: true,
    message: 'card {card}: the run was stopped before its last root (deadline, or the caller gave up)',
    nextStep: 'Run again; if it stops again, ask for fewer rounds or a smaller size.',
  },
  NOT_EXACT: {
    blame: 'prover',
    message:
      'card {card}: {precision} is not exact at m = {m}, n = {n}, k = {k} (product by {product}): a known tile differs from the CPU',
    nextStep:
      'Set TOUCHSTONE_CUBLASLT=none to use our own kernels; if they differ too, the card or its clocks are faulty.',
  },
  NO_GPU_DRIVER: {
    blame: 'prover',
    message: '{what}; none of {names} could be loaded',
    nextStep: '{mend}',
  },
  PRECISION_UNSUPPORTED: {
    blame: 'validator',
    message: 'card {card} (compute capability {version}) has no {precision} product',
    nextStep: 'Ask only for the precisions the device lists; the others are unsupported, not failed.',
  },
  WRONG_CUBLASLT: {
    blame: 'user',
    message: 'the cuBLASLt named by TOUCHSTONE_CUBLASLT cannot be used: {path}',
    nextStep: 'Name libcublasLt.so of CUDA 11, 12 or 13, or unset TOUCHSTONE_CUBLASLT.',
  },
  // What a failed call of the driver means; `cudaFault` says which call, and what to do about its status.
  GPU_CALL_FAILED: { blame: 'prover', message: '{what}', nextStep: '{mend}' },
  GPU_DRIVER_MISMATCH: { blame: 'prover', message: '{what}', nextStep: '{mend}' },
  GPU_DRIVER_TOO_OLD: { blame: 'prover', message: '{what}', nextStep: '{mend}' },
  GPU_KERNEL_REFUSED: { blame: 'prover', message: '{what}', nextStep: '{mend}' },
  GPU_LOST: { blame: 'prover', message: '{what}', nextStep: '{mend}' },
  GPU_NOT_READY: { blame: 'prover', retry: true, message: '{what}', nextStep: '{mend}' },
  NO_GPU: { blame: 'prover', message: '{what}', nextStep: '{mend}' },
  NO_SUCH_GPU: { blame: 'prover', message: '{what}', nextStep: '{mend}' },
  OUT_OF_MEMORY: { blame: 'prover', retry: true, message: '{what}', nextStep: '{mend}' },
  GPU_THREAD_FAILED: {
    blame: 'prover',
    retry: true,
    message: 'the thread of a card failed: {told}',
    nextStep: 'Run again; if it fails again, report the message.',
  },
})
