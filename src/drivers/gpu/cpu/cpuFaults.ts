import { TouchstoneError } from '../../../ports/errors.ts'

export const sizeRefused = (what: string, got: number | string, expected: string): TouchstoneError =>
  new TouchstoneError(
    { code: 'SIZE_REFUSED', what, got, expected },
    {
      message: `the CPU device refuses ${what} = ${got}: expected ${expected}`,
      blame: 'validator',
      retry: false,
      nextStep: 'Ask for sizes of the protocol (§4.0).',
    },
  )

export const outOfMemory = (askedBytes: number, freeBytes: number, cause?: unknown): TouchstoneError =>
  new TouchstoneError(
    { code: 'OUT_OF_MEMORY', askedBytes, freeBytes },
    {
      message: `the CPU device was asked for ${askedBytes} bytes, ${freeBytes} are free`,
      blame: 'validator',
      retry: true,
      nextStep: 'Ask for a smaller size class, or free memory on the box.',
      ...(cause === undefined ? {} : { cause }),
    },
  )

export const wrongUse = (code: string, message: string): TouchstoneError =>
  new TouchstoneError(
    { code },
    { message, blame: 'prover', retry: false, nextStep: 'Call the device in the order of its port.' },
  )

export const threadFailed = (cause: unknown): TouchstoneError =>
  new TouchstoneError(
    { code: 'CPU_THREAD_FAILED' },
    {
      message: 'a thread of the CPU device failed',
      blame: 'prover',
      retry: true,
      nextStep: 'Open the device again; if it fails again, report it with the cause.',
      cause,
    },
  )
