import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { HttpBindings } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import type { ApiDeps } from '../../apps/api/apiDeps.ts'
import { BOX_METRICS } from '../../apps/api/boxMetrics.ts'
import { createApi } from '../../apps/api/createApi.ts'
import { createLiveRuns } from '../../apps/shared/createLiveRuns.ts'
import type { FleetRules } from '../../apps/validator/fleet/fleet.ts'
import { FLEET_METRICS } from '../../apps/validator/fleet/fleetMetrics.ts'
import { knownAddresses, readAddresses } from '../../apps/validator/fleet/knownAddresses.ts'
import { runFleet } from '../../apps/validator/fleet/runFleet.ts'
import { type PublisherDeps, publishRounds } from '../../apps/validator/publishRounds.ts'
import { toHex } from '../../core/bytes/hex.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { defaultScoreConfig } from '../../core/score/defaultScoreConfig.ts'
import type { ScoreConfig } from '../../core/score/scoreConfig.ts'
import { httpHeight } from '../../drivers/blockHeight/httpHeight.ts'
import { nodeAnchor } from '../../drivers/blockHeight/nodeAnchor.ts'
import { openWalkChecker } from '../../drivers/host/openWalkChecker.ts'
import { pinoLog } from '../../drivers/log/pinoLog.ts'
import { type LeaseHub, openLeaseHub } from '../../drivers/remote/leased/leaseHub.ts'
import { backupStore } from '../../drivers/store/backup.ts'
import { openStore } from '../../drivers/store/openStore.ts'
import { cannotListen, listenHttp } from '../../drivers/system/listenHttp.ts'
import { readPage } from '../../drivers/system/readPage.ts'
import { heardBy } from '../../drivers/system/stampedSocket.ts'
import { textMetrics } from '../../drivers/system/textMetrics.ts'
import { PROCESS_METRICS, watchProcess } from '../../drivers/system/watchProcess.ts'
import { openThreadedChecker } from '../../drivers/verifier/openThreadedChecker.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { ownKey, system } from '../system.ts'
import { programName } from '../version.ts'
import { fleetAddress, ownFleetAddress } from './fleetAddress.ts'
import { ensureForeign, mayBeHere } from './foreignBox.ts'
import { putBoxes } from './putBoxes.ts'
import { HUB, type ValidatorConfig } from './validatorConfig.ts'
import { refuseFleetPassword, verifyJobs } from './validatorVerify.ts'

/** The long-running validator: opens everything, runs until the signal, closes everything in turn. */
export async function runValidator(
  given: ValidatorConfig,
  { env, catalogue }: { readonly env: NodeJS.ProcessEnv; readonly catalogue: Catalogue },
  signal: AbortSignal,
): Promise<void> {
  refuseFleetPassword(env)
  const config = await withPlainAddresses(given, signal)
  const log = pinoLog(config.log)
  const signer = ownKey(env, 'validator')
  const score = { ...defaultScoreConfig(catalogue), tiers: config.attestation.factors }
  const closing: (() => Promise<void>)[] = []
  try {
    // The port first: it is known at once whether it is free, while a store may take seconds to open.
    const door = config.api ? await listenHttp(config.api) : null
    if (door) closing.unshift(door.close)
    if (door) log.info('listening', door.at)
    const store = await openStore(config.store, config.base, log)
    closing.push(() => store.close())
    const metrics = textMetrics([...FLEET_METRICS, ...BOX_METRICS, ...PROCESS_METRICS])
    const fleetBase = { ...system, store, log, metrics, live: createLiveRuns() }
    const self = toHex(signer.publicKey)
    const writers = [self, ...(config.api?.writers ?? [])]
    const told = { catalogue, decay: score.decay, self, writers }
    door?.open(createApi({ ...fleetBase, ...told, ...apiHooks(config, store) }))
    const checker = await openThreadedChecker(config.work.threads)
    closing.unshift(() => checker.close())
    await checker.ready
    const walkChecker = openWalkChecker(config.work.threads)
    closing.unshift(() => walkChecker.close())
    closing.unshift(watchProcess(metrics))
    await putBoxes(store, config, log)
    const tied = config.anchor && nodeAnchor(config.anchor.node.replace(/\/$/, ''), { ...system, log }, signal)
    const anchored = tied && { anchor: tied.anchor }
    const verifyDeps = { ...system, signer, checker, walkChecker, catalogue, heardBy, ...anchored }
    const hub = config.leaseHub ? await openHub(config.leaseHub, config.leaseHubProxy, { self, store, log }) : null
    if (hub) closing.unshift(() => hub.close())
    const addresses = async () => [...(await readAddresses(store)).keys()]
    const verify = verifyJobs(config, verifyDeps, { env, log, hub, addresses })
    const chain = config.rounds.heightUrl === undefined ? null : httpHeight(config.rounds.heightUrl)
    log.info('validator started', { program: programName, key: self, boxes: config.boxes.length })
    const publishing = await startPublishing(config, env, { ...fleetBase, signer, decay: score.decay }, signal)
    await runFleet({ ...fleetBase, verify, chain }, rulesOf(config, score), signal)
    await publishing.done
    await tied?.done
  } finally {
    for (const close of closing) await close()
  }
}

/** Rounds to the ledger that the settings name; its library is loaded only where there is one. */
async function startPublishing(
  { ledger, base }: ValidatorConfig,
  env: NodeJS.ProcessEnv,
  deps: Omit<PublisherDeps, 'ledger'>,
  signal: AbortSignal,
): Promise<{ readonly done: Promise<void> }> {
  if (ledger === undefined) return { done: Promise.resolve() }
  const { openLedger } = await import('../ledger/openLedger.ts')
  return {
    done: publishRounds(
      { ...deps, ledger: await openLedger(ledger, { base, env, signer: deps.signer }, signal) },
      signal,
    ),
  }
}

/** From here on there is one spelling of each address, however validator.yaml has it. */
async function withPlainAddresses(config: ValidatorConfig, signal: AbortSignal): Promise<ValidatorConfig> {
  const boxes: ValidatorConfig['boxes'] = []
  // One after the other: each may ask a program.
  for (const box of config.boxes) boxes.push({ ...box, address: await ownFleetAddress(box.address, signal) })
  return { ...config, boxes }
}

function rulesOf({ rounds, work, retention }: ValidatorConfig, score: ScoreConfig): FleetRules {
  return {
    owner: `${hostname()}/${process.pid}/${randomBytes(4).toString('hex')}`,
    roundEveryMs: rounds.everyMinutes * 60_000,
    blocksPerRound: rounds.everyBlocks,
    maxDelayMs: Math.round(rounds.maxDelaySeconds * 1000),
    probes: rounds.probes,
    cohortSize: work.cohortSize,
    concurrency: work.concurrency,
    holdMs: work.holdSeconds * 1000,
    startLimitMs: work.startLimitSeconds * 1000,
    stallMs: work.stallSeconds * 1000,
    jobLimitMs: work.runLimitSeconds * 1000,
    graceMs: work.graceSeconds * 1000,
    pollMs: 1000,
    retries: { limit: work.retryLimit, intervalMs: work.retrySeconds * 1000 },
    box: { busyLimit: work.busyLimit },
    score,
    retention,
  }
}

/** What the API needs of this process and its settings. */
const apiHooks = (config: ValidatorConfig, store: Store) =>
  ({
    requestsPerMinute: config.api?.requestsPerMinute ?? 0,
    program: programName,
    pages: readPage(),
    addressOf: async ({ id, address }) => {
      const box = { id, address: fleetAddress(address) }
      if (!mayBeHere(config, box)) await ensureForeign(box.address)
      return box.address
    },
    whenSent: ({ env }, done) => (env as HttpBindings).outgoing.once('close', done),
    clientOf: (c) => getConnInfo(c).remote.address ?? 'unknown',
    backup: () => backupStore(store, resolve(config.base, config.backups)),
  }) satisfies Partial<ApiDeps>

/** Where providers behind NAT dial in: those of boxes we know, and nobody else. */
async function openHub(
  where: NonNullable<ValidatorConfig['leaseHub']>,
  behindProxy: boolean,
  { self, store, log }: { readonly self: string; readonly store: Store; readonly log: Log },
): Promise<LeaseHub> {
  const boxAt = knownAddresses(store, system.clock)
  const accepts = async (key: string): Promise<boolean> => {
    const box = await boxAt(`${HUB}${key}`)
    if (box === null) log.info('unknown provider refused', { key })
    else log.info('provider dialled in', { box, key })
    return box !== null
  }
  try {
    const hub = await openLeaseHub(where, { self, accepts, rules: { behindProxy } })
    log.info('waiting for providers', { host: where.host, port: hub.port })
    return hub
  } catch (cause) {
    throw cannotListen({ ...where, part: 'nobody can dial in', setting: 'leaseHub' }, cause)
  }
}
