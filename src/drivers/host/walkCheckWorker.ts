import { parentPort, workerData } from 'node:worker_threads'
import type { Stretch } from '../../ports/walkChecker.ts'
import { openRounds, type RoundsStart } from './hostRounds.ts'
import { holds } from './hostWalk.ts'

const rounds = openRounds(workerData as RoundsStart)

parentPort!.on('message', async (stretch: Stretch) => parentPort!.postMessage(holds(stretch, await rounds)))
