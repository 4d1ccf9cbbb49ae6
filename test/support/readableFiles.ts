import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, vi } from 'vitest'
import { attestationReader } from '../../src/core/attest/attestationReader.ts'
import { cpuReportData, workNonce } from '../../src/core/attest/binding.ts'
import { writeBundle } from '../../src/core/attest/bundle.ts'
import { readReport } from '../../src/core/attest/spdm.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { issueAnswer } from '../../src/core/certificate/answerEvidence.ts'
import { issueReceipt } from '../../src/core/certificate/receiptEvidence.ts'
import { matrixId } from '../../src/core/work/methods/zk/statement.ts'
import { checkVendorSignature } from '../../src/drivers/system/checkVendorSignature.ts'
import { encodeNpy } from '../../src/drivers/workFiles/npy.ts'
import { byInput } from '../../src/main/work/answerFiles.ts'
import { SHIPPED_CATALOGUE, smallCatalogue } from '../sim/shippedCatalogue.ts'
import { AttestingDevice, honestChip } from './attest/attestingDevice.ts'
import { bundleOf, makeHardware } from './attest/attestRun.ts'
import { TestDevice } from './attest/testNvidia.ts'
import { answersFor } from './attest/testOcsp.ts'
import { DRIVER_GOLDEN, makeRim, makeRimSigner } from './attest/testRim.ts'
import { honestProgram } from './inProcessBox.ts'
import { openReferenceDevice } from './openReferenceDevice.ts'
import { plainProduct } from './plainProduct.ts'
import { provenPrivate } from './privateProducts.ts'
import { openingsOf, operandFiles, productFiles, provenTraining, TIMES, writerIn } from './readableWorks.ts'
import type { Given, runCommand } from './runCommand.ts'
import { resigned, summaryOf } from './syntheticCertificate.ts'
import { testEngine } from './testEngine.ts'
import { testSigner } from './testSigner.ts'
import { VALIDATOR, verifyInProcess } from './verifyInProcess.ts'
import { VirtualClock } from './virtualClock.ts'

const NOW = Date.parse('2026-11-16T00:00:00Z')
const AT_MS = Date.parse(TIMES.issuedAt)

/** Every kind of file that can be read, and how long a check of it takes here: 10 ms, 30 ms, 100 ms, and a second. */
export const KINDS = {
  'certificate of an insecure preset': 'cheap',
  'certificate of a card, as claimed': 'slow',
  'certificate of version 1': 'long',
  'certificate with evidence of a vendor': 'quick',
  'certificate with evidence in an unknown form': 'quick',
  'summary alone': 'cheap',
  'summary with its certificate': 'quick',
  'evidence of a GPU': 'quick',
  'evidence of a GPU and a processor': 'quick',
  'evidence of a GPU beside a receipt': 'quick',
  'receipt by openings': 'quick',
  'receipt beside the certificate of its box': 'long',
  'receipt with transitions proven by sumcheck': 'slow',
  'receipt of a product': 'quick',
  'receipt of a product under codes': 'slow',
  'receipt of a private answer': 'quick',
} as const

/** A file that can be read, and what its reader may ask of it. */
export interface ReadFile {
  readonly kind: keyof typeof KINDS
  readonly file: string
  /** What it takes to have the best answer there is, and the exit code of that. */
  readonly base: Given
  readonly exit: number
  /** What else is met. */
  readonly met: Given
  /** What nobody can fail to meet, and why. */
  readonly always?: Readonly<Record<string, string>>
}

const KEY = toHex(VALIDATOR.publicKey)
const PROVER = toHex(testSigner(7).publicKey)
const OTHER_KEY = toHex(testSigner(99).publicKey)
const NO_CARD = { catalogue: 'it names no card that a catalogue could know or not know' }

const fixtureNamed = (name: string): string => new URL(`../../bench/fixtures/${name}`, import.meta.url).pathname

/** Inputs of a work, as `work run --inputs` leaves them. */
function inputsIn(folder: string, inputs: ReadonlyMap<string, Uint8Array>): string {
  mkdirSync(folder)
  for (const [name, bytes] of inputs) writeFileSync(join(folder, `${name}.bin`), bytes)
  return folder
}

/** Of its bytes one is another. */
const turned = (bytes: Uint8Array): Uint8Array => bytes.map((byte, i) => (i === 0 ? byte ^ 1 : byte))

const clockAt = (): VirtualClock => {
  const clock = new VirtualClock()
  clock.jumpWall(AT_MS - clock.wallTime().getTime())
  return clock
}

/** All of them, and what a reader asks that none of them meets. */
interface Table {
  readonly files: readonly ReadFile[]
  readonly unmet: Given
}

/** The same in a folder of their own, with whose home and at what time they are read. */
export interface ReadableFiles extends Table {
  readonly folder: string
  readonly home: Parameters<typeof runCommand>[2]
}

/** Made before the tests of a suite, and gone after them. */
export function openReadableFiles(): ReadableFiles {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-read-'))
  const env = { ...process.env, TOUCHSTONE_HOME: join(folder, 'home'), NO_COLOR: '1' }
  const read = { files: [], unmet: {}, folder, home: { env, nowMs: NOW } }
  beforeAll(async () => {
    // Kernels that are there at once, for works of a few numbers each.
    vi.stubEnv('TOUCHSTONE_ENGINE', 'wasm')
    Object.assign(read, await makeFiles(folder))
  })
  afterAll(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true, force: true })
  })
  return read
}

async function makeFiles(folder: string): Promise<Table> {
  const write = writerIn(folder)
  const signed = { base: { trust: [KEY] }, exit: 0 }
  const ofSigner = { signer: [KEY], signers: ['1'], 'max-age': ['1d'], revoked: [write('nobody.json', listOf([]))] }
  const engine = await testEngine()
  const catalogue = await smallCatalogue()
  const clocked = () => ({ clock: clockAt(), catalogue, engine })

  // Certificates.
  const { certificate: tiny } = await verifyInProcess({
    program: honestProgram({ devices: [openReferenceDevice({ engine })] }),
    ...clocked(),
  })
  const tinyFile = write('tiny.json', tiny)
  const ofBox = { ...ofSigner, prover: [PROVER], catalogue: [SHIPPED_CATALOGUE] }
  const unread = { format: 'touchstone-evidence-99', open: ['AAAA'], close: ['AAAA'] }
  const later = resigned(tiny, (predicate) => Object.assign(predicate, { attestation: unread }))
  const h200 = (name: string, key: string, prover: string) => ({
    file: fixtureNamed(name),
    base: { trust: [key], sample: ['1'] },
    exit: 0,
    met: { ...ofBox, signer: [key], prover: [prover], claim: ['H200'] },
  })

  // Evidence of hardware vendors.
  const hardware = makeHardware(AT_MS)
  const gpu = new TestDevice(hardware.vendor)
  const policy = write('policy.json', JSON.stringify(hardware.policy))
  const imagePolicy = write('imagePolicy.json', JSON.stringify(hardware.imagePolicy))
  const rim = hardware.rims.map((one, i) => write(`${i}.xml`, one))
  const ocsp = hardware.answers([gpu]).map((answer, i) => write(`${i}.ocsp`, answer))
  const endorsed = { rims: hardware.rims, ocsp: hardware.answers([gpu]) }
  const reader = attestationReader({
    ...{ policy: hardware.policy, check: checkVendorSignature, nonce: null, atMs: null },
    ...endorsed,
  })
  const { certificate: attested } = await verifyInProcess({
    program: honestProgram({ devices: [new AttestingDevice(honestChip(gpu))] }),
    ...{ ...clocked(), attestation: reader },
  })
  const nonce = new Uint8Array(32).fill(0x42)
  const ofGpu = bundleOf([gpu], nonce, endorsed)
  const reportData = cpuReportData(nonce, new Uint8Array(0), [readReport(ofGpu.devices[0]!.report).signed])
  const { amd } = hardware
  const cpu = { kind: 'sev-snp', report: amd.report({ reportData }), certificates: amd.certificates } as const
  const evidence = {
    base: { nonce: [toHex(nonce)], policy: [policy], at: [TIMES.issuedAt.replace('.000', '')] },
    exit: 0,
  }

  // Works.
  const sizes = { rows: 8, columns: 6, k: 40, block: 4 }
  const given = { ...plainProduct(sizes) }
  const receipt = await openingsOf(given)
  const receiptFile = write('openings.receipt', issueReceipt(receipt.facts, VALIDATOR))
  const withNonce = workNonce(given.work.workId, testSigner(7).publicKey, receipt.lastLink)
  const ofWork = write('work.json', writeBundle(bundleOf([gpu], withNonce, endorsed)))
  const inputs = inputsIn(join(folder, 'inputs'), given.given)
  const result = write('c.npy', encodeNpy({ type: 'i32', rows: 8, width: 6, bytes: receipt.c }))
  const fast = { ...receipt.facts, proverKey: Buffer.from(H200_PROVER, 'hex'), elapsedUs: 60_000_000 }
  const boundFile = write('bounded.receipt', issueReceipt(fast, VALIDATOR))
  const trained = await provenTraining()
  const learned = write(
    'proven.receipt',
    issueReceipt({ ...trained.facts, ...TIMES, proverKey: testSigner(7).publicKey }, VALIDATOR),
  )
  const product = await productFiles(write)
  const { product: asked, proof } = provenPrivate({ rows: 3, inner: 2, columns: 2 }, { b: false, c: false }, 1)
  const modelId = matrixId(asked.a)
  const answer = { product: asked, proof, modelId, proverKey: VALIDATOR.publicKey, program: 'test', ...TIMES }
  const [inputsOf, scoresOf] = [asked.b, asked.c].map((side) => ('open' in side ? side.open : [])) as [
    number[],
    number[],
  ]
  const askedBytes = new Uint8Array(Int8Array.from(inputsOf).buffer)
  const askedFile = write('asked.npy', encodeNpy({ type: 'i8', rows: 2, width: 2, bytes: askedBytes }))
  const scoresBytes = new Uint8Array(Int32Array.from(byInput(asked, scoresOf)).buffer)
  const scoresFile = write('scores.npy', encodeNpy({ type: 'i32', rows: 2, width: 3, bytes: scoresBytes }))
  const ofProver = { ...ofSigner, prover: [PROVER] }

  const files: readonly ReadFile[] = [
    { kind: 'certificate of an insecure preset', file: tinyFile, ...signed, met: ofBox, always: NO_CARD },
    { kind: 'certificate of a card, as claimed', ...h200('h200-mainnet-2.json', H200_KEY, H200_PROVER) },
    { kind: 'certificate of version 1', ...h200('h200-mainnet.json', FIRST_KEY, FIRST_PROVER) },
    {
      ...{ kind: 'certificate with evidence of a vendor', file: write('attested.json', attested), exit: 0 },
      base: { trust: [KEY], policy: [policy] },
      ...{ met: { ...ofBox, rim, ocsp }, always: NO_CARD },
    },
    {
      ...{ kind: 'certificate with evidence in an unknown form', file: write('later.json', later), ...signed },
      ...{ met: ofBox, always: NO_CARD },
    },
    { kind: 'summary alone', file: write('summary.json', summaryOf(tiny)), ...signed, exit: 4, met: ofProver },
    {
      ...{ kind: 'summary with its certificate', file: join(folder, 'summary.json'), exit: 0 },
      ...{ base: { trust: [KEY], full: [tinyFile] }, met: ofBox, always: NO_CARD },
    },
    { kind: 'evidence of a GPU', file: write('gpu.json', writeBundle(ofGpu)), ...evidence, met: { rim, ocsp } },
    {
      ...{ kind: 'evidence of a GPU and a processor', file: write('cpu.json', writeBundle({ ...ofGpu, cpu })) },
      ...{ base: { ...evidence.base, policy: [imagePolicy] }, exit: 0 },
      met: { rim, ocsp, crl: [write('today.crl', amd.crl(AT_MS))] },
    },
    {
      ...{ kind: 'evidence of a GPU beside a receipt', file: ofWork, exit: 0 },
      base: { receipt: [receiptFile], trust: [KEY], policy: [policy], at: evidence.base.at },
      met: { rim, ocsp, revoked: ofSigner.revoked },
    },
    {
      ...{ kind: 'receipt by openings', file: receiptFile, exit: 0 },
      base: { trust: [KEY], given: operandFiles(write, sizes, given.given), result: [result], replay: [inputs] },
      met: ofProver,
    },
    {
      ...{ kind: 'receipt beside the certificate of its box', file: boundFile, exit: 0 },
      base: { trust: [KEY, H200_KEY], certificate: [fixtureNamed('h200-mainnet-2.json')] },
      met: { 'max-age': ['1d'], prover: [H200_PROVER] },
    },
    {
      ...{ kind: 'receipt with transitions proven by sumcheck', file: learned, ...signed },
      met: { ...ofProver, inputs: [inputsIn(join(folder, 'text'), trained.given)] },
    },
    {
      ...{ kind: 'receipt of a product', file: product.plain, exit: 0, met: ofProver },
      base: { trust: [KEY], given: product.given, result: product.result },
    },
    {
      ...{ kind: 'receipt of a product under codes', file: product.coded, exit: 0 },
      base: { trust: [KEY], code: product.codes, result: product.result },
      met: { ...ofProver, given: product.given },
    },
    {
      ...{
        kind: 'receipt of a private answer',
        file: write('answer.receipt', issueAnswer(answer, VALIDATOR)),
        exit: 0,
      },
      base: { trust: [KEY], model: [toHex(modelId)], given: [askedFile] },
      met: { ...ofSigner, prover: [KEY], result: [scoresFile] },
    },
  ]
  const revoked = [KEY, H200_KEY, FIRST_KEY].map((key) => ({
    key,
    status: 'revoked',
    since: '2026-01-01T00:00:00.000Z',
  }))
  const stranger = makeRimSigner()
  const wrongInputs = inputsIn(
    join(folder, 'wrong'),
    new Map([...given.given, ...trained.given].map(([name, bytes]) => [name, turned(bytes)])),
  )
  const unmet: Given = {
    ...{ trust: [OTHER_KEY], signer: [OTHER_KEY], signers: ['2'], prover: [OTHER_KEY], claim: ['8x H100 SXM'] },
    ...{ 'max-age': ['1s'], revoked: [write('revoked.json', listOf(revoked))] },
    catalogue: [write('catalogue.yaml', withoutHopper())],
    full: [fixtureNamed('h200-mainnet.json')],
    policy: [write('strict.json', JSON.stringify({ ...hardware.policy, leastDriver: '999.0' }))],
    rim: [write('idle.xml', makeRim(stranger, { version: '9.9', golden: DRIVER_GOLDEN }))],
    ocsp: [write('idle.ocsp', answersFor(stranger, 0, { thisUpdateMs: AT_MS - 3_600_000 })[0]!)],
    crl: [write('revoking.crl', amd.crl(AT_MS, [amd.holders[1]!]))],
    collateral: [write('intel.json', '{"tcb_info":"{}"}')],
    ...{ inputs: [wrongInputs], replay: [wrongInputs] },
    given: product.given.toReversed(),
    result: [write('other.npy', encodeNpy({ type: 'i32', rows: 8, width: 6, bytes: turned(receipt.c) }))],
    certificate: [tinyFile],
    tokenizer: [new URL('../fixtures/small-gpt2', import.meta.url).pathname],
    ...{ code: [OTHER_KEY, OTHER_KEY], model: [OTHER_KEY], nonce: [OTHER_KEY] },
    ...{ receipt: [boundFile], at: ['2040-01-01T00:00:00Z'] },
  }
  return { files, unmet }
}

const H200_KEY = '2e1f93b024adf755f85310b1d1905a05255a8dd38eace2ba1f02d36db42e8467'
const H200_PROVER = 'cda7c568c9e3cf873f11b3248d36e625c513c648c4a338c7951f9bc0e77c7954'
const FIRST_KEY = '7ab55bca19c4994e2ab60cfeaba66bf930e75974d1ce148a62be0e865946dd63'
const FIRST_PROVER = '7464af60d1c0e553ff6135e564a98eab120b052b25cc0d56d79b49f40c50e883'

const listOf = (keys: readonly object[]): string => JSON.stringify({ version: 1, keys })

/** The shipped catalogue without the cards whose certificates are read here. */
const withoutHopper = (): string =>
  readFileSync(SHIPPED_CATALOGUE, 'utf8').replace(/^ {2}- id: g?h[12]00[\s\S]*?(?=^ {2}- id: |^\S)/gm, '')
