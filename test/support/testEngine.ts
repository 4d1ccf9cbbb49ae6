import { readFileSync } from 'node:fs'
import { createEngine } from '../../src/core/engine/createEngine.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'

/** The fast engine; equal to the reference bit for bit (src/core/engine/createEngine.test.ts). */
export const testEngine = (): Promise<TileEngine> =>
  createEngine(new Uint8Array(readFileSync(new URL('../../kernels/built/engine.wasm', import.meta.url))))
