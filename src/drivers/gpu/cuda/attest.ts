import type { Arch, NvidiaEvidence } from '../../../core/attest/nvidiaDevice.ts'
import type { Nvml } from './nvml.ts'

/** NVML's numbers of architectures that can attest. */
const ARCHS: Readonly<Record<number, Arch>> = { 9: 'HOPPER', 10: 'BLACKWELL' }

/** nvmlConfComputeSystemState_t: environment, feature, developer tools (4 each). */
const STATE_WORDS = 3
const FEATURE = 1
/** nvmlConfComputeGpuCertificate_t: two lengths (4 each), the chain of the device (0x1000), that of its reports (0x1400). */
const CERTIFICATE = { bytes: 8 + 0x1000 + 0x1400, size: 4, chain: 8 + 0x1000, most: 0x1400 } as const
/** nvmlConfComputeGpuAttestationReport_t: a flag and two lengths (4 each), nonce (32), report (0x2000), another (0x1000). */
const REPORT = { bytes: 12 + 32 + 0x2000 + 0x1000, size: 4, nonce: 12, report: 44, most: 0x2000 } as const

/** Has a card sign nonces. */
export type Attester = (nonce: Uint8Array) => NvidiaEvidence | null

/** The attester of a card, or null: it is too old for it, or confidential computing is off. Not tried on a card that can. */
export function openAttester(nvml: Nvml, pci: string): Attester | null {
  const state = new Uint32Array(STATE_WORDS)
  const handle = new BigUint64Array(1)
  const number = new Uint32Array(1)
  if (nvml.nvmlSystemGetConfComputeState(state) !== 0 || state[FEATURE] === 0) return null
  if (nvml.nvmlDeviceGetHandleByPciBusId_v2(pci, handle) !== 0) return null
  if (nvml.nvmlDeviceGetArchitecture(handle[0]!, number) !== 0) return null
  const arch = ARCHS[number[0]!]
  if (arch === undefined) return null
  return (nonce) => {
    const report = new Uint8Array(REPORT.bytes)
    report.set(nonce, REPORT.nonce)
    const chain = new Uint8Array(CERTIFICATE.bytes)
    if (nvml.nvmlDeviceGetConfComputeGpuCertificate(handle[0]!, chain) !== 0) return null
    if (nvml.nvmlDeviceGetConfComputeGpuAttestationReport(handle[0]!, report) !== 0) return null
    return {
      arch,
      report: sized(report, REPORT.size, REPORT.report, REPORT.most),
      chain: sized(chain, CERTIFICATE.size, CERTIFICATE.chain, CERTIFICATE.most),
    }
  }
}

/** As much of a field as the library says it has filled. */
function sized(struct: Uint8Array, sizeAt: number, from: number, most: number): Uint8Array {
  const size = new DataView(struct.buffer).getUint32(sizeAt, true)
  return struct.slice(from, from + Math.min(size, most))
}
