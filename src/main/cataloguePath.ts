import { fileURLToPath } from 'node:url'

/** The catalogue that came with the program. New cards by editing the file. */
export const cataloguePath = (): string => fileURLToPath(new URL('../../catalogue/gpus.yaml', import.meta.url))
