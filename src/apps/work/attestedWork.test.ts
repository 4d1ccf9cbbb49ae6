import { expect, test } from 'vitest'
import { bundleOf, makeHardware } from '../../../test/support/attest/attestRun.ts'
import { TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { openInProcessBox } from '../../../test/support/inProcessBox.ts'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { chanceProduct } from '../../../test/support/smallWorks.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { chanceFrom } from '../../../test/support/workTrials.ts'
import { attestationReader } from '../../core/attest/attestationReader.ts'
import { workNonce } from '../../core/attest/binding.ts'
import { patchRunner } from '../../core/work/runPatch.ts'
import { linksOf } from '../../core/work/stateChain.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openCpuWork, openExactEngine, openFieldEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { checkVendorSignature } from '../../drivers/system/checkVendorSignature.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import type { WorkDevice } from '../../ports/workDevice.ts'
import { WorkRejected } from './proverLine.ts'
import { serveWork } from './serveWork.ts'
import { watchAttested } from './watchWork.ts'

const WASM = { environment: { TOUCHSTONE_ENGINE: 'wasm' } }
const hasher = hasherOn(await openExactEngine(WASM))
const runPatch = patchRunner(await openExactEngine(WASM), EXACT_OPS)
const never = new AbortController().signal
const atMs = Date.parse('2026-11-15T12:00:00Z')
const hardware = makeHardware(atMs)
const [gpu, another] = [
  new TestDevice(hardware.vendor),
  new TestDevice(hardware.vendor, { pdi: '0123456789abcdef' }),
] as const
const { rims, policy } = hardware
const ocsp = [gpu, another].flatMap((device) => hardware.answers([device]))
const evidenceOf = (device: TestDevice, nonce: Uint8Array) => bundleOf([device], nonce).devices[0]!

/** As the command line judges it: by policy, golden values and answers of the reader's own. */
async function judge(bundle: Uint8Array, nonce: Uint8Array): Promise<string> {
  const reader = attestationReader({ policy, check: checkVendorSignature, nonce, atMs, rims, ocsp })
  const found = await reader.checkFile(bundle, atMs)
  if ('code' in found) throw new WorkRejected('NOT_ATTESTED', found.code)
  expect(found.doubts).toEqual([])
  return found.devices.map(({ pdi }) => pdi).join()
}

const { work, given } = chanceProduct(chanceFrom(1), hasher)

/** A work on a device that attests as `attest` has it. */
async function watched(attest: WorkDevice['attest']) {
  let started = 0
  const box = openInProcessBox(async ({ input, write }) => {
    const cpu = await openCpuWork(WASM)
    const start: WorkDevice['start'] = (...asked) => {
      started++
      return cpu.start(...asked)
    }
    const device = { ...cpu, start, ...(attest ? { attest } : {}) }
    const engines = { openField: () => openFieldEngine(WASM), openExact: () => openExactEngine(WASM) }
    await serveWork({ device, signer: testSigner(7), randomness: seededRandomness(3), ...engines, input, write })
  })
  const ours = { clock: systemClock, randomness: seededRandomness(5), hasher, runPatch, segmentMs: 60_000, every: 0 }
  const seen = { onStep: () => {}, onState: () => {} }
  try {
    const done = await watchAttested({ work, given, ...ours, ...seen, prover: await box.start(never) }, judge, never)
    return { done, started }
  } catch (error) {
    return { error, started }
  } finally {
    await box.close()
  }
}

test('W11: hardware signs for the very work, whoever did it and every state', async () => {
  const nonces: Uint8Array[] = []
  const { done } = await watched(async (nonce) => {
    nonces.push(nonce)
    return evidenceOf(gpu, nonce)
  })
  const { evidence, marks, firstRoot, proverKey, figures } = done!
  const lastLink = linksOf(work.workId, firstRoot, marks).at(-1)!
  expect(evidence.nonce).toEqual(workNonce(work.workId, proverKey, lastLink))
  expect(nonces).toHaveLength(2)
  expect(nonces[1]).toEqual(evidence.nonce)
  expect(await judge(evidence.bundle, evidence.nonce)).toBe(gpu.pdi)
  expect(figures.patches).toBeGreaterThan(0)
})

test('a device that cannot attest is told so before anything is done', async () => {
  for (const attest of [undefined, async () => null]) {
    const { error, started } = await watched(attest)
    expect(error).toMatchObject({ detail: { code: 'CANNOT_ATTEST' } })
    expect((error as Error & { nextStep: string }).nextStep).toContain('--method openings')
    expect(started).toBe(0)
  }
})

test('evidence for another nonce, of another vendor, or of another chip at the end is rejected', async () => {
  const elsewhere = new TestDevice(makeHardware(atMs).vendor)
  const replayed = evidenceOf(gpu, new Uint8Array(32))
  let asked = 0
  for (const [attest, where] of [
    [async () => replayed, 'NONCE_DIFFERS'],
    [async (nonce: Uint8Array) => evidenceOf(elsewhere, nonce), 'UNKNOWN_ROOT'],
    [async (nonce: Uint8Array) => evidenceOf(asked++ === 0 ? gpu : another, nonce), 'OTHER_DEVICES'],
  ] as const)
    expect((await watched(attest)).error).toMatchObject({ code: 'NOT_ATTESTED', where })
})
