/** Entry of the thread that drives one card. */
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { createEngine } from '../../../core/engine/createEngine.ts'
import { kernelPath } from '../../system/kernelFiles.ts'
import { Card } from './card.ts'
import type { CardStart } from './cardMessages.ts'
import { openCublasLt } from './cublasLt.ts'
import { loadLibcuda } from './loadLibcuda.ts'
import { serveCard } from './serveCard.ts'

const start = workerData as CardStart

async function open(): Promise<Card> {
  const files = start.kernelFolder === null ? {} : { folder: start.kernelFolder }
  const engine = await createEngine(new Uint8Array(readFileSync(kernelPath('engine.wasm', files))))
  const { ordinal, context, keepBytes } = start
  return new Card({ api: loadLibcuda(), openLibrary: openCublasLt, engine }, { ordinal, context, files, keepBytes })
}

await serveCard(parentPort!, start, open)
