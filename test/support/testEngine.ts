import { readFileSync } from 'node:fs'
import { createEngine } from '../../src/core/engine/createEngine.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'

let made: Promise<TileEngine> | null = null

/** The fast engine, one for all tests of a process; equal to the reference bit for bit (createEngine.test.ts). */
export function testEngine(): Promise<TileEngine> {
  made ??= createEngine(new Uint8Array(readFileSync(new URL('../../kernels/built/engine.wasm', import.meta.url))))
  return made
}
