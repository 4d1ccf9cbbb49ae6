#!/usr/bin/env node
// How long evidence of hardware vendors takes to verify, one by one: `node bench/attest.mjs FOLDER`, a folder of published
// evidence (the one that TOUCHSTONE_ATTESTATION_FIXTURES names). Needs dist/.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { attestationReader } from '../dist/core/attest/attestationReader.js'
import { verifyNvidiaDevice } from '../dist/core/attest/nvidiaDevice.js'
import { NVIDIA_POLICY } from '../dist/core/attest/policy.js'
import { readRim, verifyRim } from '../dist/core/attest/rim.js'
import { readReport } from '../dist/core/attest/spdm.js'
import { checkVendorSignature as check } from '../dist/drivers/system/checkVendorSignature.js'
import { keepResult } from './support/keepResult.mjs'

const folder = process.argv[2] ?? process.env.TOUCHSTONE_ATTESTATION_FIXTURES
if (folder === undefined || !existsSync(folder)) {
  console.error('name a folder of published evidence: node bench/attest.mjs FOLDER')
  process.exit(2)
}
const file = (path) => readFileSync(join(folder, path))
const hex = (path) => Buffer.from(file(path).toString('latin1').trim(), 'hex')
const sdk = 'attestation-sdk'
const rules = (roots, day) => ({ roots, check, atMs: Date.parse(`${day}T12:00:00Z`) })
const device = (name, arch) => {
  const evidence = {
    arch,
    report: hex(`${sdk}/${name}AttestationReport.txt`),
    chain: file(`${sdk}/${name}CertChain.txt`),
  }
  const { nonce } = readReport(evidence.report)
  return () => verifyNvidiaDevice(evidence, nonce, rules(NVIDIA_POLICY.roots.device, '2026-11-15'))
}
const rim = file('go-nvattest-tools/rim/NV_GPU_DRIVER_GH100_550.90.07.xml')
const bundle = file(`${sdk}/hopper_evidence.json`)
const brought = { policy: NVIDIA_POLICY, check, nonce: null, atMs: null, rims: [], ocsp: [] }
const alone = attestationReader(brought)
const go = 'go-nvattest-tools'
const gpu = [
  {
    arch: 'HOPPER',
    nonce: '931d8dd0add203ac3d8b4fbde75e115278eefcdceac5b87671a748f32364dfcb',
    evidence: file(`${go}/test_raw_gpu_attestation_report.dat`).toString('base64'),
    certificate: file(`${go}/test_gpu_attestation_certificate_chain.dat`).toString('base64'),
  },
]
const answers = ['driver_rim_l3', 'driver_rim_l4', 'rim_l2', 'vbios_l4']
const endorsed = attestationReader({
  ...brought,
  rims: [rim, file(`${go}/rim/NV_GPU_VBIOS_1010_0200_882_96009F0001.xml`)],
  ocsp: answers.map((name) =>
    Buffer.from(`${file(`${go}/ocsp/test_gpu_${name}_base64encoded_ocsp_response.dat`)}`, 'base64'),
  ),
})
const accepted = async (found) => {
  if ('code' in (await found)) throw new Error(`refused: ${(await found).code}`)
}
const jobs = {
  'Hopper report and chain': device('hopper', 'HOPPER'),
  'Blackwell report and chain': device('blackwell', 'BLACKWELL'),
  'switch report and chain': device('switch', 'LS10'),
  'golden values of a driver': () => verifyRim(readRim(rim), rules(NVIDIA_POLICY.roots.rim, '2025-10-24')),
  "a file of NVIDIA's SDK": () => accepted(alone.checkFile(bundle, Date.now())),
  'a GPU with its golden values, and answers about them': () =>
    accepted(endorsed.checkFile(Buffer.from(JSON.stringify(gpu)), Date.parse('2025-10-24T12:00:00Z'))),
}

/** Processor time, which a busy machine does not stretch as it does the clock's. */
async function cpuMs(job, times = 200) {
  for (let i = 0; i < 20; i++) await job()
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) await job()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / times
}

const figures = {}
for (const [name, job] of Object.entries(jobs)) {
  const figure = await cpuMs(job)
  // The target is for one piece of evidence; the last line is many: a report, two files and four answers.
  const asked = name.includes('answers') ? {} : { target: { atMost: 20 }, met: figure <= 20 }
  figures[name] = { figure, unit: 'ms of processor time', ...asked }
}
const result = keepResult('attest', 'node bench/attest.mjs FOLDER', {
  figures,
})
console.log(JSON.stringify(result, null, 2))
