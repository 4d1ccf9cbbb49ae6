import type { Clock } from '../../../ports/clock.ts'
import type { Store } from '../../../ports/store.ts'
import { cached } from '../../shared/cached.ts'

/** Read anew once a second, so that strangers who dial and dial do not keep the store busy. */
const FRESH_MS = 1000
const PAGE = 500

/** Which box of the fleet has this address, if any; what is answered is at most two seconds old. */
export function knownAddresses(store: Store, clock: Clock): (address: string) => Promise<string | null> {
  const known = cached(() => readAddresses(store), FRESH_MS, clock)
  return async (address) => (await known()).get(address) ?? null
}

/** Every address of the fleet, with its box. */
export async function readAddresses(store: Store): Promise<ReadonlyMap<string, string>> {
  const addresses = new Map<string, string>()
  let after: string | null = null
  do {
    const { items, next } = await store.boxes({}, { after, limit: PAGE })
    for (const { address, id } of items) addresses.set(address, id)
    after = next
  } while (after !== null)
  return addresses
}
