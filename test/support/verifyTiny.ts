import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askOf } from '../../src/apps/validator/askOf.ts'
import { type BoxReport, verifyBox } from '../../src/apps/validator/verifyBox.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import { loadSigner } from '../../src/drivers/system/loadSigner.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { openThreadedChecker } from '../../src/drivers/verifier/openThreadedChecker.ts'
import type { RemoteBox } from '../../src/ports/remoteBox.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'

/** The whole main job against a box at the smallest size, with real randomness and a key of its own. */
export async function verifyTiny(box: RemoteBox, program: string): Promise<BoxReport> {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-validator-'))
  const checker = await openThreadedChecker(1)
  const less = { precisions: ['int8', 'fp32'], memory: false, bind: false, maxDevices: 1 } as const
  try {
    return await verifyBox(
      askOf({ preset: PRESETS.tiny, ...less }, program),
      {
        clock: systemClock,
        randomness: systemRandomness,
        signer: loadSigner(home, 'validator', systemRandomness),
        checker,
        catalogue: await shippedCatalogue(),
        connect: async () => box,
      },
      AbortSignal.timeout(15_000),
    )
  } finally {
    await checker.close()
    rmSync(home, { recursive: true, force: true })
  }
}
