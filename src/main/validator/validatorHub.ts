import { type LeaseHub, openLeaseHub } from '../../drivers/remote/leased/leaseHub.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { fault } from '../faults.ts'
import { HUB, type ValidatorConfig } from './validatorConfig.ts'

/** Where providers behind NAT dial in: those of boxes we know, and nobody else. */
export async function openValidatorHub(
  where: NonNullable<ValidatorConfig['leaseHub']>,
  { self, store, log }: { readonly self: string; readonly store: Store; readonly log: Log },
): Promise<LeaseHub> {
  const isKnown = knownAddresses(store)
  const accepts = async (key: string): Promise<boolean> => {
    const known = await isKnown(`${HUB}${key}`)
    log.info(known ? 'provider dialled in' : 'unknown provider refused', { key })
    return known
  }
  try {
    const hub = await openLeaseHub(where, { self, accepts })
    log.info('waiting for providers', { host: where.host, port: hub.port })
    return hub
  } catch (cause) {
    throw cannotWait(where, cause)
  }
}

const FRESH_MS = 2000
const PAGE = 500

/** Read anew at most every two seconds, so that strangers who dial and dial do not keep the store busy. */
function knownAddresses(store: Store): (address: string) => Promise<boolean> {
  let known: Promise<ReadonlySet<string>> | null = null
  let readAtUs = 0
  return async (address) => {
    const now = systemClock.monotonicUs()
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

const cannotWait = ({ host, port }: { readonly host: string; readonly port: number }, cause: unknown) =>
  fault(
    'CANNOT_LISTEN',
    { host, port, part: 'nobody can dial in', setting: 'leaseHub', why: portProblem(cause) },
    cause,
  )

const portProblem = (cause: unknown): string =>
  (cause as { code?: unknown }).code === 'EADDRINUSE' ? 'another program uses the port' : 'the address cannot be used'
