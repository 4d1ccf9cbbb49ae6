import { Buffer } from 'node:buffer'
import { expect, test } from 'vitest'
import { makeVendor, TestDevice } from '../../../../test/support/attest/testNvidia.ts'
import { fakeNvml } from '../../../../test/support/fakeNvml.ts'
import { openAttester } from './attest.ts'
import type { Nvml, NvmlCall } from './nvml.ts'

const gpu = new TestDevice(makeVendor())
const nonce = Buffer.alloc(32, 6)
const { report, chain } = gpu.evidence(nonce)

/** A card with confidential computing on, of this architecture by NVML's number. */
function attesting(architecture = 9, failing: readonly NvmlCall[] = []): Nvml {
  const put = (out: Uint8Array, sizeAt: number, size: number, at: number, bytes: Uint8Array) => {
    new DataView(out.buffer).setUint32(sizeAt, size, true)
    out.set(bytes, at)
    return 0
  }
  const calls: Partial<Record<PropertyKey, (...args: never[]) => number>> = {
    nvmlSystemGetConfComputeState: (out: Uint32Array) => {
      out[1] = 1
      return 0
    },
    nvmlDeviceGetArchitecture: (_: bigint, out: Uint32Array) => {
      out[0] = architecture
      return 0
    },
    nvmlDeviceGetConfComputeGpuCertificate: (_: bigint, out: Uint8Array) =>
      put(out, 4, chain.length, 8 + 0x1000, chain),
    nvmlDeviceGetConfComputeGpuAttestationReport: (_: bigint, out: Uint8Array) =>
      put(out, 4, report.length, 44, gpu.report(out.slice(12, 44))),
    ...Object.fromEntries(failing.map((name) => [name, () => 999])),
  }
  return new Proxy(fakeNvml(), { get: (card, name) => calls[name] ?? Reflect.get(card, name) })
}

test('has a card sign the nonce it was given, and hands on report and chain at their lengths', () => {
  const evidence = openAttester(attesting(), '0000:17:00.0')!(nonce)!
  expect(evidence.arch).toBe('HOPPER')
  expect(Buffer.from(evidence.chain).equals(chain)).toBe(true)
  expect(evidence.report.length).toBe(report.length)
  // The signature is drawn anew; what it signs is not.
  expect(Buffer.from(evidence.report).subarray(0, -96).equals(report.subarray(0, -96))).toBe(true)
})

test('is none where confidential computing is off, unknown to the driver, or the card too old', () => {
  expect(openAttester(fakeNvml(), '0000:17:00.0')).toBeNull()
  expect(openAttester(attesting(8), '0000:17:00.0')).toBeNull()
  expect(openAttester(attesting(9, ['nvmlSystemGetConfComputeState']), '0000:17:00.0')).toBeNull()
})

test('gives nothing where the card fails to sign', () => {
  for (const call of [
    'nvmlDeviceGetConfComputeGpuCertificate',
    'nvmlDeviceGetConfComputeGpuAttestationReport',
  ] as const)
    expect(openAttester(attesting(9, [call]), '0000:17:00.0')!(nonce)).toBeNull()
})
