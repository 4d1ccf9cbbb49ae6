/** Fingerprints of asked tiles by the CPU engine, for the exactness rows. */
import { readFileSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { words32 } from '../../src/core/bytes/bytes.ts'
import { createEngine } from '../../src/core/engine/createEngine.ts'
import type { Precision } from '../../src/core/params/precision.ts'
import { fingerprintTile } from '../../src/core/proof/fingerprint.ts'
import { kernelPath } from '../../src/drivers/system/kernelFiles.ts'

export interface TileJob {
  readonly seed: Uint8Array
  readonly precision: Precision
  readonly k: number
  readonly columns: number
  readonly tiles: readonly number[]
}

const engine = await createEngine(new Uint8Array(readFileSync(kernelPath('engine.wasm'))))
parentPort!.on('message', ({ seed, precision, k, columns, tiles }: TileJob) => {
  const prints = tiles.map((tile) => {
    const place = { tileRow: Math.floor(tile / columns), tileColumn: tile % columns }
    const { f0, f1 } = fingerprintTile(engine.tile({ seed, precision, k, ...place }), words32(seed)[3]!)
    return [f0, f1] as const
  })
  parentPort!.postMessage(prints)
})
