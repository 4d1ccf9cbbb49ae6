/** A card's thread with the fake driver in place of NVIDIA's; bundled by the test that uses it. */
import { readFileSync } from 'node:fs'
import { getEnvironmentData, parentPort, workerData } from 'node:worker_threads'
import { createEngine } from '../../src/core/engine/createEngine.ts'
import { Card } from '../../src/drivers/gpu/cuda/card.ts'
import type { CardStart } from '../../src/drivers/gpu/cuda/cardMessages.ts'
import { serveCard } from '../../src/drivers/gpu/cuda/serveCard.ts'
import { FakeCuda, type FakeTrouble } from './fakeCuda.ts'

const start = workerData as CardStart
const arena = getEnvironmentData('fakeArena') as unknown as SharedArrayBuffer
const trouble = (getEnvironmentData('fakeTrouble') ?? {}) as FakeTrouble
await serveCard(parentPort!, start, async () => {
  const { ordinal, context, kernelFolder, keepBytes } = start
  const engine = await createEngine(new Uint8Array(readFileSync(`${kernelFolder}/engine.wasm`)))
  const api = new FakeCuda(arena, engine, trouble)
  return new Card(
    { api, openLibrary: () => null, engine },
    { ordinal, context, files: { folder: kernelFolder! }, keepBytes },
  )
})
