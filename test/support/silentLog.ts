import type { Log } from '../../src/ports/log.ts'

const silent = () => {}

export const SILENT_LOG: Log = { debug: silent, info: silent, warn: silent, error: silent }
