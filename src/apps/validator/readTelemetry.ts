import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { details } from '../../core/inventory/inventory.ts'

/** Claims of the cards about themselves during the run; what is not well formed is left out, it proves nothing anyway. */
export function readTelemetry(samples: readonly { readonly device: number; readonly sample: Uint8Array }[]): unknown[] {
  const step = Math.max(1, Math.ceil(samples.length / MOST))
  return samples.flatMap(({ device, sample }, i) => {
    if (i % step !== 0) return []
    try {
      return [{ device, ...decodeJson(sample, details, 'telemetry') }]
    } catch {
      return []
    }
  })
}

const MOST = 256
