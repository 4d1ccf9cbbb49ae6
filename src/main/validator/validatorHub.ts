import { knownAddresses } from '../../apps/validator/fleet/knownAddresses.ts'
import { type LeaseHub, openLeaseHub } from '../../drivers/remote/leased/leaseHub.ts'
import { cannotListen } from '../../drivers/system/listenHttp.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { system } from '../system.ts'
import { HUB, type ValidatorConfig } from './validatorConfig.ts'

/** Where providers behind NAT dial in: those of boxes we know, and nobody else. */
export async function openValidatorHub(
  where: NonNullable<ValidatorConfig['leaseHub']>,
  { self, store, log }: { readonly self: string; readonly store: Store; readonly log: Log },
): Promise<LeaseHub> {
  const isKnown = knownAddresses(store, system.clock)
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
    throw cannotListen({ ...where, part: 'nobody can dial in', setting: 'leaseHub' }, cause)
  }
}
