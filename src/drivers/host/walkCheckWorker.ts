import { parentPort } from 'node:worker_threads'
import type { Stretch } from '../../ports/walkChecker.ts'
import { holds } from './hostWalk.ts'

parentPort!.on('message', ({ ticket, stretch }: { ticket: number; stretch: Stretch }) =>
  parentPort!.postMessage({ ticket, holds: holds(stretch) }),
)
