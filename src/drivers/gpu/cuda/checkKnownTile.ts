import { words32 } from '../../../core/bytes/bytes.ts'
import { TILE } from '../../../core/params/constants.ts'
import { fingerprintTile } from '../../../core/proof/fingerprint.ts'
import type { TileEngine } from '../../../core/proof/tileEngine.ts'
import { tilesOf } from '../tasks.ts'
import type { CardTools } from './cardTools.ts'
import { fault } from './faults.ts'
import { KNOWN_SEED, type RoundPlan } from './roundPlan.ts'

/**
 * §2: one tile of the round a plan has just run, against the CPU. A difference is a fault of the box (a library that
 * rounds, a card that errs), found before the run and never held against it as a cheat. Plain rounds only: bound and kept
 * ones use the same product.
 */
export function checkKnownTile({ api, ordinal }: CardTools, plan: RoundPlan, engine: TileEngine): void {
  const { precision, n, k } = plan.shape
  const columns = n / TILE
  const tile = tilesOf(plan.shape) - 1
  const place = { tileRow: Math.floor(tile / columns), tileColumn: tile % columns }
  const expected = fingerprintTile(engine.tile({ seed: KNOWN_SEED, precision, k, ...place }), words32(KNOWN_SEED)[3]!)
  const bytes = api.download(plan.prints + BigInt(16 * tile), 16)
  const [f0, f1] = new BigUint64Array(bytes.buffer, bytes.byteOffset, 2)
  if (f0 === expected.f0 && f1 === expected.f1) return
  const { m } = plan.shape
  throw fault('NOT_EXACT', { card: ordinal, precision, m, n, k, product: plan.product.by })
}
