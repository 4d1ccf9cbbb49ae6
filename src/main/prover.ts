#!/usr/bin/env node
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { faultAnswer } from '../apps/prover/deviceFault.ts'
import { inventoryOf } from '../apps/prover/inventoryOf.ts'
import { type Offer, serveProver } from '../apps/prover/serveProver.ts'
import { devicesAsOne } from '../apps/work/devicesAsOne.ts'
import { serveWork } from '../apps/work/serveWork.ts'
import { encodeFrame } from '../core/wire/frames.ts'
import { openExactEngine, openFieldEngine } from '../drivers/gpu/cpu/work/openCpuWork.ts'
import { describeDevices, describeLeftOut, openDevices, openWorkDevices } from '../drivers/gpu/openDevices.ts'
import { askProcessor } from '../drivers/host/askProcessor.ts'
import { HOST_BUDGET, measureHost, readHost } from '../drivers/host/measureHost.ts'
import { openHostLanes } from '../drivers/host/openHostLanes.ts'
import { loadSigner } from '../drivers/system/loadSigner.ts'
import { systemRandomness } from '../drivers/system/systemRandomness.ts'
import { dataFolder } from '../drivers/system/xdgFolders.ts'
import type { Device } from '../ports/device.ts'
import { EXIT } from './exitCodes.ts'
import { programName } from './version.ts'

/** The program that runs on a box: speaks the wire protocol on its standard streams, and ends when its input does. */
const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupted.abort())
process.stdout.on('error', () => interrupted.abort())

async function write(bytes: Uint8Array): Promise<void> {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain', { signal: interrupted.signal }).catch(() => {})
}

/** Whoever exits before that takes its last words along: a socket holds back what its reader has no room for. */
const flushed = (): Promise<void> =>
  new Promise((resolve) => {
    if (interrupted.signal.aborted) return resolve()
    interrupted.signal.addEventListener('abort', () => resolve(), { once: true })
    process.stdout.write('', () => resolve())
  })

/** One work, on the cards, or on the processor where there is none. */
async function work(): Promise<void> {
  const [first, ...others] = await openWorkDevices('auto')
  if (!first) return
  const device = devicesAsOne([first, ...others])
  // Replicas on one machine have a key each.
  const [replica = ''] = /^\d{1,3}$/.exec(process.argv[process.argv.indexOf('--work') + 1] ?? '') ?? []
  const signer = loadSigner(dataFolder(process.env), `prover${replica && `-${replica}`}`, systemRandomness)
  const host = { openField: openFieldEngine, openExact: openExactEngine, askProcessor }
  await serveWork({ device, signer, randomness: systemRandomness, ...host, input: process.stdin, write })
  await device.close()
}

const measures = process.argv.includes('--measure-host')

async function openOffer(devices: Device[], signal: AbortSignal): Promise<Offer> {
  const flag = process.argv.indexOf('--devices')
  const list = flag > 0 ? (process.argv[flag + 1] ?? 'auto') : 'auto'
  const faults: unknown[] = []
  const absent: unknown[] = []
  const opened = await openDevices(
    list,
    (fault) => faults.push(fault),
    undefined,
    (why) => absent.push(why),
  )
  devices.push(...opened)
  const facts = devices.map((device) => device.facts)
  const measured = measures ? await measureHost({ ...HOST_BUDGET, diskFolder: tmpdir() }, signal) : {}
  const leftOut = list === 'auto' ? {} : await describeLeftOut(facts)
  const host = { ...readHost(), ...(await describeDevices(facts)), ...leftOut, ...measured }
  return { devices, inventory: inventoryOf({ program: programName, devices: facts, host, faults, absent }) }
}

async function serve(): Promise<void> {
  if (process.argv.includes('--work')) return await work()
  const devices: Device[] = []
  const open = (signal: AbortSignal) =>
    openOffer(devices, signal).catch((error: unknown) => {
      process.exitCode = EXIT.fault
      throw error
    })
  try {
    const signer = loadSigner(dataFolder(process.env), 'prover', systemRandomness)
    const lanes = measures ? { host: openHostLanes(tmpdir()) } : {}
    const deps = { signer, open, askProcessor, input: process.stdin, write, ...lanes }
    await serveProver(deps, interrupted.signal)
  } finally {
    await Promise.all(devices.map((device) => device.close()))
  }
}

/** What keeps it from serving is said too, wherever it was thrown: a validator would only see it end. */
async function giveUp(error: unknown): Promise<never> {
  if (process.env.TOUCHSTONE_DEBUG) console.error(error)
  await write(encodeFrame(faultAnswer(error)))
  await flushed()
  process.exit(EXIT.fault)
}
process.once('uncaughtException', (error) => void giveUp(error))

await serve().catch(giveUp)
await flushed()
process.exit()
