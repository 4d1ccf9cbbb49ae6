import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { fault } from '../faults.ts'

const MOST_INPUT_BYTES = 2 ** 31 - 1

/** A file that somebody named as an input. */
export function readInput(name: string): Uint8Array {
  let content: Uint8Array | number
  try {
    content = readRegularFile(name, MOST_INPUT_BYTES)
  } catch {
    throw fault('NOT_READABLE', { file: name })
  }
  if (typeof content === 'number') throw fault('BAD_WORK_INPUT', { why: `${name} has ${content} bytes, too many` })
  return content
}
