import { resolve } from 'node:path'
import type { VerifyJob } from '../../apps/validator/fleet/fleet.ts'
import { type VerifyDeps, type VerifyOptions, verifyBox } from '../../apps/validator/verifyBox.ts'
import { PRESETS, presetAsked } from '../../core/params/presets.ts'
import type { LeaseHub } from '../../drivers/remote/leased/leaseHub.ts'
import type { Log } from '../../ports/log.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'
import type { LeasedJob } from '../../ports/store.ts'
import { openThisMachine } from '../boxes/openBox.ts'
import { openLeasedBox } from '../boxes/openLeasedBox.ts'
import { openSshBox } from '../boxes/openSshBox.ts'
import { fault } from '../faults.ts'
import { programName } from '../version.ts'
import { foreignAddress, mayBeHere } from './foreignBox.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

/** Carries out a job of the fleet: its box over SSH, or this machine; full, or light for a box that is at work. */
export function verifyJobs(
  config: ValidatorConfig,
  { walkChecker, ...deps }: Omit<Required<VerifyDeps>, 'connect' | 'onStep' | 'beforeStart'>,
  { env: given, log, hub }: { readonly env: NodeJS.ProcessEnv; readonly log: Log; readonly hub: LeaseHub | null },
): VerifyJob {
  const { leaseNetworks: networks } = config
  const env = withoutPassword(given)
  const identity = config.identity === undefined ? {} : { identity: resolve(config.base, config.identity) }
  const open = async ({ kind, box }: LeasedJob, signal: AbortSignal): Promise<RemoteBox> => {
    const { address } = box
    const where = mayBeHere(config, box) ? {} : await foreignAddress(address)
    // The rest of the box counts in a score, and a box at work is left alone.
    const proverArguments = ['--devices', config.devices, ...(kind === 'full' ? ['--measure-host'] : [])]
    if (address === 'local') return openThisMachine(env, proverArguments)
    if (address.startsWith('lease:'))
      return openLeasedBox(
        { address, ...where, networks, signer: deps.signer, proverArguments, env, ...(hub && { hub }) },
        signal,
      )
    const say = (): void => log.info('host key learnt')
    return openSshBox({ address, ...where, flags: { keep: true, ...identity }, proverArguments, env, say }, signal)
  }
  return (job, hooks, signal) => {
    const host = job.kind === 'full' ? { walkChecker } : {}
    return verifyBox(
      optionsFor(config, job),
      { ...deps, ...host, ...hooks, connect: (inner) => open(job, inner) },
      signal,
    )
  }
}

/** One password would be shown to every box of the fleet, and each of them could log in to the others with it. */
export function refuseFleetPassword(env: NodeJS.ProcessEnv): void {
  if (!env.TOUCHSTONE_SSH_PASSWORD) return
  throw fault('FLEET_PASSWORD')
}

function withoutPassword({ TOUCHSTONE_SSH_PASSWORD: _, ...env }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return env
}

function optionsFor(config: ValidatorConfig, { kind, box }: LeasedJob): VerifyOptions {
  const preset = kind === 'light' ? PRESETS.tiny : PRESETS[config.preset]
  const { openings, partSeconds, sustainedSeconds } = preset
  const [memory, bind] = [kind === 'full' && config.memory, kind === 'full' && config.bind]
  const asked = { precisions: config.precisions, memory, bind, openings, partSeconds, sustainedSeconds }
  return {
    ...asked,
    preset: presetAsked(preset, asked),
    maxSize: 32768,
    maxDevices: 32,
    // The small sizes of a light look say nothing of what was sold.
    claim: kind === 'full' ? box.claim : null,
    program: programName,
  }
}
