import { xidText } from '../../../core/inventory/xidText.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import type { Telemetry } from './telemetry.ts'

/** The driver tells NVML of an error at about the time it fails our call, not always before. */
const WAIT_MS = 100

/** A driver that has lost a card says so in several ways, "unknown error" among them. */
const TOLD_WITH: readonly unknown[] = ['GPU_LOST', 'GPU_CALL_FAILED']

/** A lost card's fault, with the driver errors NVML heard of that card; anything else as it is. */
export function nameXids(error: unknown, telemetry: Telemetry | null): unknown {
  if (!(error instanceof TouchstoneError) || !TOLD_WITH.includes(error.detail.code)) return error
  const xids = telemetry?.xids(WAIT_MS) ?? []
  if (xids.length === 0) return error
  const { message, blame, retry, nextStep, cause } = error
  return new TouchstoneError(
    { ...error.detail, xid: xids.join(' ') },
    { message: `${message}; the driver reported ${xids.map(xidText).join(', ')}`, blame, retry, nextStep, cause },
  )
}
