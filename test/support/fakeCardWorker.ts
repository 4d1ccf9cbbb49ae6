/** A card's thread with the fake driver in place of NVIDIA's; bundled by the test that uses it. */
import { getEnvironmentData, parentPort, workerData } from 'node:worker_threads'
import { referenceEngine } from '../../src/core/proof/referenceEngine.ts'
import { Card } from '../../src/drivers/gpu/cuda/card.ts'
import type { CardStart } from '../../src/drivers/gpu/cuda/cardMessages.ts'
import { serveCard } from '../../src/drivers/gpu/cuda/serveCard.ts'
import { FakeCuda, type FakeTrouble } from './fakeCuda.ts'

const start = workerData as CardStart
const arena = getEnvironmentData('fakeArena') as unknown as SharedArrayBuffer
const trouble = (getEnvironmentData('fakeTrouble') ?? {}) as FakeTrouble
await serveCard(parentPort!, start, async () => {
  const api = new FakeCuda(arena, referenceEngine, trouble)
  const { ordinal, context, kernelFolder, keepBytes } = start
  return new Card(
    { api, openLibrary: () => null, engine: referenceEngine },
    { ordinal, context, files: { folder: kernelFolder! }, keepBytes },
  )
})
