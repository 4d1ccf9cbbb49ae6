import { Buffer } from 'node:buffer'
import { CARRIED_FORMAT, type CarriedEvidence } from '../../../src/core/attest/attestationReader.ts'
import { closeNonce, cpuReportData, openNonce } from '../../../src/core/attest/binding.ts'
import { type Bundle, writeBundle } from '../../../src/core/attest/bundle.ts'
import { type AttestationPolicy, NVIDIA_POLICY } from '../../../src/core/attest/policy.ts'
import { readReport } from '../../../src/core/attest/spdm.ts'
import { pinOf } from './testAuthority.ts'
import { digest, makeVendor, type ReportWishes, type TestDevice } from './testNvidia.ts'
import { answersFor } from './testOcsp.ts'
import { DRIVER_GOLDEN, makeRim, makeRimSigner, measuring, VBIOS_GOLDEN } from './testRim.ts'
import { TestSnp } from './testSnp.ts'

/** Everything that made-up hardware needs to attest: its vendors, and golden values and answers of this time. */
export function makeHardware(atMs: number) {
  const vendor = makeVendor()
  const signer = makeRimSigner()
  const amd = new TestSnp()
  const rims = [
    makeRim(signer, { version: '550.90.07', golden: DRIVER_GOLDEN }),
    makeRim(signer, { version: '96.00.9F.00.01', golden: VBIOS_GOLDEN }),
  ]
  const policy: AttestationPolicy = {
    ...NVIDIA_POLICY,
    roots: {
      ...NVIDIA_POLICY.roots,
      device: [pinOf(vendor.root)],
      rim: [pinOf(signer[3]!)],
      amd: [pinOf(amd.holders[2]!)],
    },
  }
  /** The same of a reader who asks for the machine around the cards, with this image. */
  const measurements = [Buffer.from(digest('image')).toString('hex')]
  const imagePolicy: AttestationPolicy = { ...policy, cpu: { ...policy.cpu, measurements } }
  const fresh = { thisUpdateMs: atMs - 3_600_000 }
  const answers = (devices: readonly TestDevice[]) => [
    ...devices.flatMap(({ holders }) => answersFor(holders, 1, fresh)),
    ...answersFor(signer, 0, fresh),
  ]
  return { vendor, signer, amd, rims, policy, imagePolicy, answers }
}

const measurements = measuring(DRIVER_GOLDEN, VBIOS_GOLDEN)

/** Made-up devices that sign a nonce, running what was released. */
export const bundleOf = (
  devices: readonly TestDevice[],
  nonce: Uint8Array,
  more: Partial<Bundle> = {},
  wishes: ReportWishes = {},
): Bundle => ({
  devices: devices.map((device) => ({ ...device.evidence(nonce, { measurements, ...wishes }), nonce })),
  rims: [],
  ocsp: [],
  cpu: null,
  ...more,
})

export interface AttestedRun {
  readonly x: Uint8Array
  readonly queries: readonly Uint8Array[]
  readonly proverKey: Uint8Array
}

const signedOf = (bundle: Bundle) => bundle.devices.map(({ report }) => readReport(report).signed)

interface AttestWishes {
  readonly before?: readonly TestDevice[]
  /** What they report of themselves before the run. */
  readonly first?: ReportWishes
  readonly cpu?: boolean
}

/** What a box with this hardware hands in for a run; `before` attest first where they are others. */
export function attestRun(
  { x, queries, proverKey }: AttestedRun,
  { rims, answers, amd }: ReturnType<typeof makeHardware>,
  devices: readonly TestDevice[],
  { before = devices, first = {}, cpu = false }: AttestWishes = {},
): CarriedEvidence {
  const open = bundleOf(before, openNonce(x), {}, first)
  const nonce = closeNonce(x, queries, signedOf(open))
  const close = bundleOf(devices, nonce, { rims, ocsp: answers(devices) })
  const report = () => amd.report({ reportData: cpuReportData(nonce, proverKey, signedOf(close)) })
  const whole = cpu
    ? { ...close, cpu: { kind: 'sev-snp', report: report(), certificates: amd.certificates } as const }
    : close
  const based = (bundle: Bundle) => [Buffer.from(writeBundle(bundle)).toString('base64')]
  return { format: CARRIED_FORMAT, open: based(open), close: based(whole) }
}
