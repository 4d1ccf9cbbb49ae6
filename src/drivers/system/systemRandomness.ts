import { randomBytes } from 'node:crypto'
import type { Randomness } from '../../ports/randomness.ts'

export const systemRandomness: Randomness = { bytes: (length) => new Uint8Array(randomBytes(length)) }
