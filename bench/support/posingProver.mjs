#!/usr/bin/env node
// A prover that offers more devices than it has: node bench/support/posingProver.mjs MODE DEVICES.
//   turns    all cores serve the series one after the other, whole series at a time
//   at-once  one thread per device offered; the operating system shares the cores among them
// Everything it sends is computed, so that every opening holds: it lies about nothing but the number of devices.
import { once } from 'node:events'
import { serveProver } from '../../dist/apps/prover/serveProver.js'
import { openCpuDevice } from '../../dist/drivers/gpu/cpu/openCpuDevice.js'
import { nativeSigner } from '../../dist/drivers/system/nativeSigner.js'

const [mode, count] = [process.argv[2], Number(process.argv[3])]

/** One series at a time, whatever device it is of: together they never have more than one of them has. */
let before = Promise.resolve()
const inTurn = (device) => ({
  ...device,
  runSeries: (task, onRoot, signal) => {
    before = before.then(() => device.runSeries(task, onRoot, signal))
    return before
  },
})

const options = mode === 'turns' ? {} : { threads: 1 }
const opened = await Promise.all(Array.from({ length: count }, () => openCpuDevice(options)))
const devices = mode === 'turns' ? opened.map(inTurn) : opened
const inventory = { program: 'posing prover', devices: devices.map(({ facts }) => facts), host: {} }
const write = async (bytes) => {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain')
}
const signer = nativeSigner(new Uint8Array(32).fill(7))
const open = async () => ({ devices, inventory })
await serveProver({ signer, open, input: process.stdin, write }, new AbortController().signal)
process.exit()
