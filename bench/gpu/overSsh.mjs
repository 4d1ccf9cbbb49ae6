#!/usr/bin/env node
// A card verified over SSH: `node bench/gpu/overSsh.mjs` on a machine with a card, Node and, best, an sshd. Starts a server
// on loopback and asks this machine's first card, here and over SSH in turns: rates, seconds, verdicts on claims, a card
// that somebody else uses, a run that is too small, and what is left after a fault. Writes bench/results/h200-ssh.json (or
// --out FILE) after every step; a step that fails or finds no time is recorded, and the others go on. bench/gpu/packBox.mjs
// packs all of it for a machine that has neither Node nor network. `--devices cpu` tries the script itself without a card.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { firstCard, processesOf, treeOf, usedMiB } from '../support/cardState.mjs'
import { startTouchstone } from '../support/runTouchstone.mjs'
import { startLoopbackBox } from '../support/sshLoopback.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values: flags } = parseArgs({
  options: {
    devices: { type: 'string', default: 'cuda:0' },
    claim: { type: 'string', default: 'H200' },
    'other-claim': { type: 'string', default: 'H100 SXM' },
    'limit-seconds': { type: 'string', default: '290' },
    only: { type: 'string' },
    out: { type: 'string', default: join(root, 'bench/results/h200-ssh.json') },
  },
})
const onCard = flags.devices !== 'cpu'
const began = performance.now()
const secondsLeft = () => Number(flags['limit-seconds']) - (performance.now() - began) / 1000

const folder = mkdtempSync(join(tmpdir(), 'touchstone-over-ssh-'))
process.env.CUDA_CACHE_PATH ??= join(folder, 'compiled')
const env = { ...process.env, TOUCHSTONE_HOME: join(folder, 'state'), NO_COLOR: '1' }
const box = await startLoopbackBox({ folder: join(folder, 'box'), hasNode: true })

/** On a CPU, something that ends soon. */
const small = ['--preset', 'devnet', '--precisions', 'int8', '--no-memory', '--no-bind']
/** The sizes of the mainnet preset in a shorter run. */
const short = ['--preset', 'mainnet', '--duration', '0', '--openings', '16', '--no-bind']
const shortened = (...more) => (onCard ? [...short, ...more] : small)

const plain = (text) => text.replaceAll(folder, 'FOLDER')
const lastLines = (text, count) => plain(text).trimEnd().split('\n').slice(-count)

function startVerify({ to = null, args, json = true, keep = true, limitSeconds }) {
  const target = to === null ? [] : [to, '--identity', box.identity, ...(keep ? [] : ['--no-keep'])]
  const common = ['--devices', flags.devices, '--out', join(folder, 'certificate.json'), ...(json ? ['--json'] : [])]
  return startTouchstone({ args: ['verify', ...target, ...args, ...common], env, limitSeconds })
}

/** A run to its report. What it said instead of one is the reason why the step failed. */
async function verify(options) {
  const { code, out, error, seconds, timedOut } = await startVerify(options).ended
  if (timedOut) throw new Error(`no end after ${options.limitSeconds} s: ${lastLines(error, 2).join(' ')}`)
  if (out === '') throw new Error(`ended with ${code}: ${lastLines(error, 2).join(' ')}`)
  const { judgement, access, seconds: runSeconds, roundTripSeconds, inventory, preset } = JSON.parse(out)
  const again = /over too soon/.test(error)
  return { code, seconds, runSeconds, again, preset, judgement, access, roundTripSeconds, inventory }
}

/** The part of a report that a reader of the results needs. */
const verdictOf = ({ code, seconds, runSeconds, again, preset, judgement, access }) => {
  const { devices, outcome, reason, claim } = judgement
  const { rates, classes, sustained, memory, identity } = devices[0] ?? {}
  const { points: _, ...curve } = sustained ?? {}
  const device = { rates, classes, sustained: sustained ? curve : null, memory, identity }
  return { code, seconds, runSeconds, again, preset, outcome, reason, claim, device, access }
}

const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

/** Here, there, there, here: what the card's temperature does to the one it does to the other. */
async function compareTurns(args, limitSeconds) {
  const runs = { here: [], there: [] }
  for (const place of ['here', 'there', 'there', 'here']) {
    const to = place === 'there' ? box.address : null
    runs[place].push(await verify({ to, args, limitSeconds: Math.min(limitSeconds, secondsLeft()) }))
  }
  const all = [...runs.here, ...runs.there]
  const verdicts = { here: runs.here.map(verdictOf), there: runs.there.map(verdictOf) }
  const genuine = all.every(({ judgement }) => judgement.outcome === 'accepted')
  if (all.some(({ judgement }) => judgement.devices.length === 0)) return { genuine, runs: verdicts }
  const rate = (run, name) => run.judgement.devices[0].rates[name]
  const of = (place, take) => median(runs[place].map(take))
  const names = Object.keys(runs.here[0].judgement.devices[0].rates)
  const ratios = names.map((name) => [
    name,
    of('there', (run) => rate(run, name)) / of('here', (run) => rate(run, name)),
  ])
  // How much two runs in the same place differ says how much of a ratio is SSH.
  const spreads = names.map((name) => [name, rate(runs.here[0], name) / rate(runs.here[1], name)])
  const more = of('there', (run) => run.seconds) - of('here', (run) => run.seconds)
  const uploaded = runs.there.map(({ access }) => access.uploadedBytes)
  return {
    moreSeconds: { figure: more, target: { atMost: 1.5 }, met: more <= 1.5 && uploaded.every((b) => b === '0') },
    rateRatios: {
      figure: Object.fromEntries(ratios),
      target: { within: 0.03 },
      met: ratios.every(([, ratio]) => Math.abs(ratio - 1) <= 0.03),
      hereFirstOverHereLast: Object.fromEntries(spreads),
    },
    genuine,
    roundTripSeconds: { here: runs.here[0].roundTripSeconds, there: runs.there[0].roundTripSeconds },
    runs: verdicts,
  }
}

async function claimed(args, expected, limitSeconds) {
  const verdict = verdictOf(await verify({ to: box.address, args, limitSeconds }))
  return { expected, got: verdict.claim?.verdict ?? null, met: verdict.claim?.verdict === expected, verdict }
}

/** Breaks a run over SSH in its memory part, with nearly all of the card in use, then looks at what is left. */
async function broken({ happens, expectedCodes, limitSeconds }) {
  const before = { usedMiB: usedMiB(), files: treeOf(box.home) }
  const args = shortened('--precisions', 'int8')
  const run = startVerify({ to: box.cuttableAddress, args, json: false, keep: false, limitSeconds })
  const inPart = await run.saw(onCard ? /part \d+ of \d+: memory/ : /part 1 of \d+/)
  if (!inPart) {
    const { code, error } = await run.ended
    throw new Error(`ended with ${code} before there was anything to break: ${lastLines(error, 2).join(' ')}`)
  }
  await sleep(onCard ? 1500 : 100)
  const during = { usedMiB: usedMiB(), processes: processesOf(box.home).length }
  const at = performance.now()
  try {
    await happens(run)
  } catch (error) {
    run.child.kill('SIGTERM')
    await run.ended
    throw error
  }
  const ended = await run.ended
  const seconds = { untilVerdict: (performance.now() - at) / 1000, untilClean: await secondsUntilClean(before, at) }
  const after = {
    usedMiB: usedMiB(),
    processes: processesOf(box.home).length,
    filesMore: treeOf(box.home).filter((file) => !before.files.includes(file)),
  }
  const said = [...lastLines(ended.error, 6), ...lastLines(ended.out, 40)].filter((line) => line.trim() !== '')
  const met = seconds.untilClean !== null && expectedCodes.includes(ended.code)
  const usage = { before: before.usedMiB, during: during.usedMiB, after: after.usedMiB }
  const left = { processes: after.processes, filesMore: after.filesMore }
  return { met, code: ended.code, seconds, cardUsedMiB: usage, processesBefore: during.processes, left, said }
}

/** Null where the box is not as before within 20 s: processes, files, and the card's memory but for a little. */
async function secondsUntilClean(before, at) {
  for (let turn = 0; turn < 100; turn++) {
    const free = before.usedMiB === null || usedMiB() <= before.usedMiB + 64
    const files = treeOf(box.home).every((file) => before.files.includes(file))
    if (free && files && processesOf(box.home).length === 0) return (performance.now() - at) / 1000
    await sleep(200)
  }
  return null
}

function killProver() {
  const provers = processesOf(box.home).filter(({ argv }) => argv[1] === 'prover.js')
  if (provers.length === 0) throw new Error('no prover runs on the box')
  for (const { pid } of provers) process.kill(pid, 'SIGKILL')
}

/** Somebody else's products on the same card while ours is verified. */
async function withNeighbour(work) {
  const args = ['bench', '--precisions', onCard ? 'bf16' : 'int8', '--size', onCard ? '8192' : '256']
  const before = usedMiB()
  const neighbour = startTouchstone({
    args: [...args, '--seconds', '600', '--devices', flags.devices, '--json'],
    env,
    limitSeconds: Math.max(5, secondsLeft()),
  })
  for (let turn = 0; turn < 40 && (before === null || usedMiB() < before + 1000); turn++) await sleep(200)
  await sleep(1000)
  try {
    return await work()
  } finally {
    neighbour.child.kill('SIGKILL')
    await neighbour.ended
  }
}

/** Somebody else's data in the card's memory, so that only smaller products fit than a card of this model runs. */
async function withFullCard(work) {
  const holder = spawn(process.execPath, [join(root, 'bench/gpu/holdMemory.mjs'), '5'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => holder.once('exit', resolve))
  try {
    const ready = new Promise((resolve) => holder.stdout.once('data', () => resolve(true)))
    if (!(await Promise.race([ready, ended.then(() => false), sleep(20_000, false)])))
      throw new Error('the card could not be filled')
    return await work()
  } finally {
    holder.kill('SIGKILL')
    await ended
  }
}

async function undersized() {
  const args = ['--preset', 'mainnet', '--precisions', 'int8,bf16', '--no-memory', '--no-bind']
  const run = () => verify({ to: box.address, args: [...args, '--claim', flags.claim], limitSeconds: 60 })
  const verdict = verdictOf(await withFullCard(run))
  const got = verdict.reason?.code ?? null
  return { expected: 'UNDERSIZED_RUN', got, met: got === 'UNDERSIZED_RUN', verdict }
}

/** The flavour of the release that carries a Node, on a box that has none. */
async function withoutNode() {
  const bare = await startLoopbackBox({ folder: join(folder, 'bare'), hasNode: false })
  try {
    const args = ['--preset', 'tiny', '--identity', bare.identity, '--no-keep']
    const { access, judgement, seconds } = await verify({ to: bare.address, args, limitSeconds: 60 })
    const left = treeOf(bare.home)
    const met = access.node === 'carried by the release' && judgement.outcome === 'accepted' && left.length === 0
    return { expected: 'carried by the release', got: access.node, met, seconds, access, left }
  } finally {
    await bare.close()
  }
}

/** Most wanted first: what finds no time any more is left out. `needs` is about how long a step takes on an H200. */
const STEPS = {
  firstUse: {
    needs: 20,
    run: async () => {
      await verify({ args: ['--preset', 'tiny'], limitSeconds: 60 })
      const first = await verify({ to: box.address, args: ['--preset', 'tiny'], limitSeconds: 60 })
      const { access, seconds, inventory } = first
      return { met: Number(access.uploadedBytes) > 0, seconds, access, device: inventory.devices[0].name }
    },
  },
  devnet: { needs: 60, run: () => compareTurns(onCard ? ['--preset', 'devnet'] : small, 60) },
  claimAsSold: {
    needs: 50,
    run: () =>
      claimed(
        [...(onCard ? ['--preset', 'mainnet'] : small), '--claim', flags.claim],
        onCard ? 'matches' : 'different',
        120,
      ),
  },
  claimOther: {
    needs: 20,
    run: () =>
      claimed([...shortened('--precisions', 'int8,bf16,fp16'), '--claim', flags['other-claim']], 'different', 60),
  },
  proverKilled: {
    needs: 15,
    run: () => broken({ happens: killProver, expectedCodes: [1], limitSeconds: 60 }),
  },
  connectionCut: {
    needs: 15,
    run: () => broken({ happens: () => box.cut(), expectedCodes: [1, 3], limitSeconds: 60 }),
  },
  shared: {
    needs: 30,
    run: () =>
      withNeighbour(() =>
        claimed(
          [...shortened('--precisions', 'int8,bf16,fp16'), '--claim', flags.claim],
          onCard ? 'shared' : 'different',
          90,
        ),
      ),
  },
  undersized: { needs: 30, cardOnly: true, run: undersized },
  interrupted: {
    needs: 15,
    run: () => broken({ happens: ({ child }) => child.kill('SIGINT'), expectedCodes: [130], limitSeconds: 60 }),
  },
  withoutNode: { needs: 10, run: withoutNode },
  fullSize: { needs: 60, run: () => compareTurns(shortened('--no-memory', '--precisions', 'int8,fp16'), 60) },
}

const result = {
  command: `node bench/gpu/overSsh.mjs ${process.argv.slice(2).join(' ')}`.trim().replace(/ --out \S+/, ''),
  date: new Date().toISOString(),
  card: onCard ? firstCard() : null,
  cpu: `${cpus()[0].model}, ${cpus().length} cores`,
  load: loadavg(),
  node: process.version,
  server: { program: box.program, whyNotOpenSsh: box.whyNotOpenSsh },
  seconds: 0,
  steps: {},
}

function save() {
  result.seconds = (performance.now() - began) / 1000
  mkdirSync(dirname(flags.out), { recursive: true })
  writeFileSync(flags.out, `${plain(JSON.stringify(result, null, 2))}\n`)
}

async function take(step) {
  if (step.cardOnly && !onCard) return { skipped: 'needs a card' }
  if (secondsLeft() < step.needs) return { skipped: 'no time left' }
  const startedAt = performance.now()
  try {
    return { ...(await step.run()), stepSeconds: (performance.now() - startedAt) / 1000 }
  } catch (error) {
    return { failed: plain(String(error.message)), stepSeconds: (performance.now() - startedAt) / 1000 }
  }
}

const brief = (step) =>
  JSON.stringify(step, (key, value) => (['runs', 'verdict', 'access', 'said'].includes(key) ? '…' : value))

try {
  console.log(`server: ${box.program}${box.whyNotOpenSsh ? ` (${box.whyNotOpenSsh})` : ''}`)
  const wanted = flags.only?.split(',') ?? Object.keys(STEPS)
  for (const name of Object.keys(STEPS).filter((step) => wanted.includes(step))) {
    result.steps[name] = await take(STEPS[name])
    save()
    console.log(`${name}: ${brief(result.steps[name])}`)
  }
} finally {
  await box.close()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
