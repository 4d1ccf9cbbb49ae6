import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * A file that somebody named: only a regular one, and none above the limit, whose size is told instead. A pipe or a device
 * has no end, and opening a pipe waits for whoever writes to it (attack 119).
 */
export function readRegularFile(path: string, mostBytes: number): Uint8Array | number {
  // Windows has no such flag and no such pipes.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new Error('not a regular file')
    return stats.size > mostBytes ? stats.size : readFileSync(file)
  } finally {
    closeSync(file)
  }
}
