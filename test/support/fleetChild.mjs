// A validator process whose boxes take a while and always pass. Arguments: store address, owner, milliseconds a run takes,
// concurrency, and how many boxes an empty store gets first. Prints "ready" when it works and "round done" when nothing waits.

import { fileURLToPath } from 'node:url'
import { createLiveRuns } from '../../dist/apps/shared/createLiveRuns.js'
import { FLEET_METRICS } from '../../dist/apps/validator/fleet/fleetMetrics.js'
import { runFleet } from '../../dist/apps/validator/fleet/runFleet.js'
import { defaultScoreConfig } from '../../dist/core/score/defaultScoreConfig.js'
import { openStore } from '../../dist/drivers/store/openStore.js'
import { loadCatalogue } from '../../dist/drivers/system/loadCatalogue.js'
import { systemClock } from '../../dist/drivers/system/systemClock.js'
import { systemRandomness } from '../../dist/drivers/system/systemRandomness.js'
import { textMetrics } from '../../dist/drivers/system/textMetrics.js'
import { fleetRules } from './fleetRules.mjs'

const [address, owner, runMs, concurrency, boxes = '0'] = process.argv.slice(2)
const store = await openStore(address, process.cwd())
const catalogue = await loadCatalogue(fileURLToPath(new URL('../../catalogue/gpus.yaml', import.meta.url)))
const say = (text) => process.stdout.write(`${text}\n`)
const log = {
  debug() {},
  info() {},
  warn() {},
  error: (message, fields) => say(`${message} ${JSON.stringify(fields)}`),
}

const judgement = {
  outcome: 'accepted',
  reason: null,
  catalogue: '',
  devices: [],
  count: { claimed: 1, least: 1, established: false, sentence: 'one device' },
  scaling: null,
  claim: null,
}
const verify = async (job, _hooks, signal) => {
  await systemClock.sleep(Number(runMs), signal)
  return {
    address: job.box.address,
    access: {},
    preset: 'tiny',
    proverKey: new Uint8Array(32),
    runId: systemRandomness.bytes(16),
    inventory: { program: 'sim', devices: [], host: {} },
    faults: [],
    attested: { tier: 'C', refusal: null, doubts: [], chips: [] },
    judgement,
    certificate: '{}',
    startedAt: new Date().toISOString(),
    seconds: Number(runMs) / 1000,
  }
}
const rules = {
  ...fleetRules(defaultScoreConfig(catalogue)),
  owner: `${owner}/${process.pid}`,
  concurrency: Number(concurrency),
  holdMs: 600,
  pollMs: 50,
}
const deps = { store, clock: systemClock, randomness: systemRandomness, log, metrics: textMetrics(FLEET_METRICS) }
if ((await store.fleet()).length === 0)
  for (let i = 0; i < Number(boxes); i++)
    await store.putBox({ id: `box-${i}`, address: `ssh://box-${i}:22`, provider: 'p', claim: null, allocated: false })
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
const running = runFleet({ ...deps, live: createLiveRuns(), verify, chain: null }, rules, stop.signal)
say('ready')
while (!stop.signal.aborted) {
  const { waiting, held, done } = await store.queue()
  if (done > 0 && waiting + held === 0) {
    say('round done')
    break
  }
  await systemClock.sleep(25, stop.signal).catch(() => {})
}
stop.abort()
await running
await store.close()
