import { xidText } from '../../../core/inventory/xidText.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import { fault } from './faults.ts'
import type { Telemetry } from './telemetry.ts'

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
