import { readFileSync } from 'node:fs'
import { createEngine } from '../../src/core/engine/createEngine.ts'
import { Card } from '../../src/drivers/gpu/cuda/card.ts'
import { openCublasLt } from '../../src/drivers/gpu/cuda/cublasLt.ts'
import { loadLibcuda } from '../../src/drivers/gpu/cuda/loadLibcuda.ts'
import { kernelPath } from '../../src/drivers/system/kernelFiles.ts'

/** A card in this thread, for scripts that look inside. */
export async function openCard(ordinal = 0) {
  const engine = await createEngine(new Uint8Array(readFileSync(kernelPath('engine.wasm'))))
  const api = loadLibcuda()
  const card = new Card(
    { api, openLibrary: openCublasLt, engine },
    { ordinal, context: 'shared', files: {}, keepBytes: null },
  )
  return { api, card, engine }
}

/** Mean milliseconds of `work` on the card's stream, by events, after `warm` runs of it. */
export function timed(card: Card, times: number, work: () => void, warm = 1): number {
  const { api, stream } = card.tools
  const from = api.createEvent()
  const to = api.createEvent()
  for (let i = 0; i < warm; i++) work()
  api.recordEvent(from, stream)
  for (let i = 0; i < times; i++) work()
  api.recordEvent(to, stream)
  const ms = api.elapsedMs(from, to) / times
  api.destroyEvent(from)
  api.destroyEvent(to)
  return ms
}
