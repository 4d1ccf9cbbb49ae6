import { createLiveRuns } from '../../src/apps/shared/createLiveRuns.ts'
import type { FleetDeps, FleetRules, VerifyJob } from '../../src/apps/validator/fleet/fleet.ts'
import { FLEET_METRICS } from '../../src/apps/validator/fleet/fleetMetrics.ts'
import { defaultScoreConfig } from '../../src/core/score/defaultScoreConfig.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { textMetrics } from '../../src/drivers/system/textMetrics.ts'
import type { Log, LogValue } from '../../src/ports/log.ts'
import type { Store } from '../../src/ports/store.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { fleetRules } from './fleetRules.mjs'

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, LogValue>>
}

export function recordingLog(): Log & { readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const at =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, LogValue>> = {}) =>
      void lines.push({ level, message, fields })
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** Rules for tests: one round for ever, no delays, quick polls. */
export async function testRules(more: Partial<FleetRules> = {}): Promise<FleetRules> {
  return { ...fleetRules(defaultScoreConfig(await shippedCatalogue())), ...more }
}

export function testDeps(store: Store, verify: VerifyJob, more: Partial<FleetDeps> = {}) {
  const log = recordingLog()
  const deps: FleetDeps = {
    store,
    clock: systemClock,
    randomness: systemRandomness,
    log,
    metrics: textMetrics(FLEET_METRICS),
    live: createLiveRuns(),
    verify,
    chain: null,
    ...more,
  }
  return { ...deps, lines: log.lines }
}
