import type { Readable } from 'node:stream'
import { lastWords } from '../../core/bytes/printable.ts'

/** Room for the stack of a crash, so that its message is still there. */
const KEPT_BYTES = 4096

/** Drains a standard error, whatever comes, and keeps only its end for the text of a fault (attack 16). */
export function keepLastWords(errors: Readable): () => string {
  let tail = Buffer.alloc(0)
  errors.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES)
  })
  errors.on('error', () => {})
  return () => lastWords(tail.toString('utf8'))
}
