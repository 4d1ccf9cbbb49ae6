import type { Clock } from '../../../ports/clock.ts'
import type { Store } from '../../../ports/store.ts'

const FRESH_MS = 2000
const PAGE = 500

/** Read anew at most every two seconds, so that strangers who dial and dial do not keep the store busy. */
export function knownAddresses(store: Store, clock: Clock): (address: string) => Promise<boolean> {
  let known: Promise<ReadonlySet<string>> | null = null
  let readAtUs = 0
  return async (address) => {
    const now = clock.monotonicUs()
    if (known === null || now - readAtUs > FRESH_MS * 1000) {
      readAtUs = now
      known = readAddresses(store)
    }
    return (await known).has(address)
  }
}

async function readAddresses(store: Store): Promise<ReadonlySet<string>> {
  const addresses = new Set<string>()
  let after: string | null = null
  do {
    const { items, next } = await store.boxes({}, { after, limit: PAGE })
    for (const { address } of items) addresses.add(address)
    after = next
  } while (after !== null)
  return addresses
}
