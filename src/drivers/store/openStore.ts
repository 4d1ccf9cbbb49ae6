import { resolve } from 'node:path'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { fault } from './faults.ts'

export interface StoreAddress {
  readonly kind: 'embedded' | 'postgres'
  readonly place: string
}

/** `embedded:FOLDER` (relative to `base`) or `postgres://…`; anything else is null. */
export function parseStoreAddress(text: string, base: string): StoreAddress | null {
  if (/^postgres(ql)?:\/\/./.test(text)) return { kind: 'postgres', place: text }
  const folder = /^embedded:(.+)$/.exec(text)?.[1]
  return folder ? { kind: 'embedded', place: resolve(base, folder) } : null
}

/** Either engine; its library is loaded only when it is the one. */
export async function openStore(text: string, base: string, log?: Log): Promise<Store> {
  const address = parseStoreAddress(text, base)
  if (!address) throw fault('BAD_STORE_ADDRESS')
  if (address.kind === 'postgres') {
    const { openPostgres } = await import('./openPostgres.ts')
    return openPostgres({ url: address.place, ...(log === undefined ? {} : { log }) })
  }
  return (await import('./openEmbedded.ts')).openEmbedded({ folder: address.place })
}
