import { equalBytes } from '../bytes/bytes.ts'
import type { ChainRules } from './chain.ts'
import type { NvidiaDevice } from './nvidiaDevice.ts'
import { Refused, refuse } from './refusals.ts'
import { type Rim, verifyRim } from './rim.ts'
import { FIELD } from './spdm.ts'

/** What a device needs golden values for: its driver and its firmware, a switch for its firmware alone. */
type Need = 'driver' | 'vbios'

/** The measurement of a video decoder that may be switched off, and how the report says that it is. */
const NVDEC0 = 35
const OFF = 0x55

/** Whether whoever judges brought it himself, or it came with what he judges. */
export type Brought<T> = T & { readonly isReaders?: boolean }

/** What was missing of the golden values, and those that served. */
interface Measured {
  readonly missing: Need | null
  readonly used: readonly Rim[]
}

/** Every measurement that counts is right, or golden values are missing. */
export async function verifyMeasurements(
  device: NvidiaDevice,
  rims: readonly Brought<Rim>[],
  rules: ChainRules,
): Promise<Measured> {
  const needs: readonly Need[] = device.arch === 'LS10' ? ['vbios'] : ['driver', 'vbios']
  const golden = new Map<number, readonly Uint8Array[]>()
  const used: Rim[] = []
  for (const need of needs) {
    const rim = await chooseRim(device, need, rims, rules)
    if (rim === null) return { missing: need, used }
    used.push(rim)
    for (const [index, digests] of rim.active) {
      if (golden.has(index)) refuse('RIM_CONFLICT', { got: index })
      golden.set(index, digests)
    }
  }
  compare(device, golden)
  return { missing: null, used }
}

/** A file of the same version may be there twice, signed anew: the first that holds counts, of the reader's own if he has one (attack 291). */
async function chooseRim(
  device: NvidiaDevice,
  need: Need,
  rims: readonly Brought<Rim>[],
  rules: ChainRules,
): Promise<Rim | null> {
  let refused: Refused | null = null
  const fitting = rims.filter((one) => isFor(one, device, need))
  const own = fitting.filter(({ isReaders }) => isReaders)
  for (const rim of own.length > 0 ? own : fitting) {
    try {
      await verifyRim(rim, rules)
      return rim
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      refused = error
    }
  }
  if (refused) throw refused
  return null
}

/** The product too: another family's file of the same version is validly signed. */
function isFor({ version, product, edition }: Rim, { arch, model, driver, vbios }: NvidiaDevice, need: Need): boolean {
  const own = need === 'driver' ? driver : vbios
  const family = model.split(' ', 1)[0]!.replace('_', '')
  return (
    edition === (arch === 'LS10' ? 'SWITCH' : 'GPU') &&
    product === family &&
    own !== null &&
    version.toUpperCase() === own.toUpperCase()
  )
}

function compare({ report }: NvidiaDevice, golden: ReadonlyMap<number, readonly Uint8Array[]>): void {
  const isOff = report.fields.get(FIELD.nvdec0)?.[0] === OFF
  for (const [index, digests] of golden) {
    if (index === NVDEC0 && isOff) continue
    // Golden values count from 0, the blocks of a report from 1.
    const measured = report.measurements.get(index + 1)
    if (!measured || !digests.some((digest) => equalBytes(digest, measured)))
      refuse('MEASUREMENT_DIFFERS', { got: index })
  }
}
