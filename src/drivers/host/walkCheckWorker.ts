import { parentPort } from 'node:worker_threads'
import type { Stretch } from '../../ports/walkChecker.ts'
import { holds } from './hostWalk.ts'

parentPort!.on('message', (stretch: Stretch) => parentPort!.postMessage(holds(stretch)))
