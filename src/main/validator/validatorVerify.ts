import { resolve } from 'node:path'
import { takeTurns } from '../../apps/shared/takeTurns.ts'
import { askOf } from '../../apps/validator/askOf.ts'
import type { VerifyJob } from '../../apps/validator/fleet/fleet.ts'
import { type VerifyDeps, type VerifyOptions, verifyBox } from '../../apps/validator/verifyBox.ts'
import { attestationReader } from '../../core/attest/attestationReader.ts'
import { PRESETS } from '../../core/params/presets.ts'
import { fault as remoteFault } from '../../drivers/remote/faults.ts'
import type { LeaseHub } from '../../drivers/remote/leased/leaseHub.ts'
import { forgetHosts } from '../../drivers/remote/ssh/knownHosts.ts'
import type { Log } from '../../ports/log.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'
import type { TakenJob } from '../../ports/store.ts'
import { type AttestationFiles, attestationRules } from '../attestationRules.ts'
import { openBox, proverArguments } from '../boxes/openBox.ts'
// Both ways are here before a stranger can fill this process: Node keeps an import that failed for good (attack 480).
import '../boxes/openLeasedBox.ts'
import { ownKnownHosts } from '../boxes/openSshBox.ts'
import { fault } from '../faults.ts'
import { programName } from '../version.ts'
import { addressToDial, mayBeHere } from './foreignBox.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

interface JobsAround {
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  readonly hub: LeaseHub | null
  /** Of all boxes of the fleet. */
  addresses(): Promise<readonly string[]>
}

/** Carries out a job of the fleet: its box over SSH, or this machine; full, or light for a box that is at work. */
export function verifyJobs(
  config: ValidatorConfig,
  {
    walkChecker,
    ...deps
  }: Omit<
    Required<VerifyDeps>,
    | 'connect'
    | 'placeOf'
    | 'askedDevices'
    | 'onStep'
    | 'takeKey'
    | 'beforeStart'
    | 'openedBy'
    | 'attestation'
    | 'anchor'
    | 'inTurn'
  > &
    Pick<VerifyDeps, 'anchor'>,
  { env: given, log, hub, addresses }: JobsAround,
): VerifyJob {
  const { leaseNetworks: networks } = config
  const { TOUCHSTONE_SSH_PASSWORD: _, ...env } = given
  const identity = config.identity === undefined ? {} : { identity: resolve(config.base, config.identity) }
  const open = async ({ kind, box }: TakenJob, signal: AbortSignal): Promise<RemoteBox> => {
    const { address } = box
    const say = (): void => log.info('host key learnt', { box: box.id })
    const where = await addressToDial(address, mayBeHere(config, box))
    const how = { flags: { keep: true, ...identity }, networks, signer: deps.signer, env, say, ...(hub && { hub }) }
    // The rest of the box counts in a score, and a box at work is left alone.
    const target = { address, ...where, ...how, proverArguments: proverArguments(config.devices, kind === 'full') }
    try {
      return await openBox(target, signal)
    } catch (error) {
      // The next time there is room, unless all of it is taken by boxes of today (attack 482).
      if (remoteFault.is(error, 'KNOWN_HOSTS_FULL')) forgetHosts(ownKnownHosts(env), await addresses())
      throw error
    }
  }
  const inTurn = takeTurns(() => deps.clock.sleep(0, new AbortController().signal))
  // Files about revocation are of a day: they are read anew for every run. What is wrong with them is told at the start.
  const evidenceRules = () => attestationRules(attestationFiles(config))
  evidenceRules()
  return (job, hooks, signal) => {
    const whole = () => ({ walkChecker, attestation: attestationReader(evidenceRules()) })
    const host = job.kind === 'full' ? whole() : {}
    const askedDevices = config.devices === 'auto' ? null : config.devices
    const connect = (inner: AbortSignal) => open(job, inner)
    return verifyBox(askFor(config, job), { ...deps, ...host, ...hooks, inTurn, askedDevices, connect }, signal)
  }
}

function attestationFiles({ base, attestation }: ValidatorConfig): AttestationFiles {
  const { policy, rims, ocsp, crl, collateral } = attestation
  const here = (path: string) => resolve(base, path)
  const one = (path: string | undefined) => (path === undefined ? undefined : here(path))
  const processors = { crl: one(crl), collateral: one(collateral) }
  return { policy: one(policy), rim: rims.map(here), ocsp: ocsp.map(here), ...processors }
}

/** One password would be shown to every box of the fleet, and each of them could log in to the others with it. */
export function refuseFleetPassword(env: NodeJS.ProcessEnv): void {
  if (!env.TOUCHSTONE_SSH_PASSWORD) return
  throw fault('FLEET_PASSWORD')
}

function askFor({ preset, precisions, ...config }: ValidatorConfig, { kind, box }: TakenJob): VerifyOptions {
  // The small sizes of a light look say nothing of what was sold.
  if (kind === 'light') return askOf({ preset: PRESETS.tiny, precisions, memory: false, bind: false }, programName)
  const { memory, bind } = config
  return askOf({ preset: PRESETS[preset], precisions, memory, bind, link: false, claim: box.claim }, programName)
}
