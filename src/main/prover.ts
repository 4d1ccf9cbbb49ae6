#!/usr/bin/env node
import { once } from 'node:events'
import { serveProver } from '../apps/prover/serveProver.ts'
import { homeFolder } from '../drivers/system/homeFolder.ts'
import { loadSigner } from '../drivers/system/keyFile.ts'
import { systemRandomness } from '../drivers/system/systemRandomness.ts'
import { hostDetails } from './hostDetails.ts'
import { openDevices } from './openDevices.ts'
import { sampleTelemetry } from './sampleTelemetry.ts'
import { programName } from './version.ts'

/** The program that runs on a box: speaks the wire protocol on its standard streams, and ends when its input does. */
const flag = process.argv.indexOf('--devices')
const devices = await openDevices(flag > 0 ? (process.argv[flag + 1] ?? 'auto') : 'auto')
const signer = loadSigner(homeFolder(process.env), 'prover', systemRandomness)
const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupted.abort())
process.stdout.on('error', () => interrupted.abort())

const inventory = {
  program: programName,
  devices: devices.map(({ facts }) => ({ ...facts, precisions: [...facts.precisions], details: { ...facts.details } })),
  host: await hostDetails(
    devices.map(({ facts }) => facts),
    process.argv.includes('--measure-host'),
    interrupted.signal,
  ),
}

async function write(bytes: Uint8Array): Promise<void> {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain', { signal: interrupted.signal }).catch(() => {})
}

const sampled = devices.map((device, index) => sampleTelemetry(device, index, write))
await serveProver({ devices: sampled, signer, inventory, input: process.stdin, write }, interrupted.signal)
await Promise.all(devices.map((device) => device.close()))
process.exit()
