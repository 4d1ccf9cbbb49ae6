import { fileURLToPath } from 'node:url'
import type { Signer } from '../core/bytes/ed25519.ts'
import type { Catalogue } from '../core/identify/catalogue.ts'
import { loadCatalogue } from '../drivers/system/loadCatalogue.ts'
import { loadSigner } from '../drivers/system/loadSigner.ts'
import { systemClock } from '../drivers/system/systemClock.ts'
import { systemRandomness } from '../drivers/system/systemRandomness.ts'
import { dataFolder } from '../drivers/system/xdgFolders.ts'

/** The time and the chance of this machine. */
export const system = { clock: systemClock, randomness: systemRandomness } as const

/** The key of this user as a validator or as a provider, made at first use. */
export const ownKey = (env: NodeJS.ProcessEnv, role: 'validator' | 'provider'): Signer =>
  loadSigner(dataFolder(env), role, systemRandomness)

const SHIPPED = new URL('../../catalogue/gpus.yaml', import.meta.url)

/** The catalogue in a file, or the one that came with the program. New cards by editing the file. */
export async function readCatalogue(path = fileURLToPath(SHIPPED)): Promise<Catalogue> {
  return await loadCatalogue(path)
}
