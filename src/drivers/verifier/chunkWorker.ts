import { parentPort, workerData } from 'node:worker_threads'
import type { ChunkAt } from '../../core/work/drilled/productChecks.ts'
import { productChunk } from '../../core/work/drilled/productTask.ts'
import { type EngineStart, openEngine } from './engineStart.ts'

const engine = await openEngine(workerData as EngineStart)

parentPort!.on('message', (asked: Parameters<ChunkAt>) => parentPort!.postMessage(productChunk(engine, ...asked)))
