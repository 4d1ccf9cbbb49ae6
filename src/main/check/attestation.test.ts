import { Buffer } from 'node:buffer'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bundleOf, makeHardware } from '../../../test/support/attest/attestRun.ts'
import { TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { fixture, hasFixtures, WHY_NOT } from '../../../test/support/attest/vendorFixtures.ts'
import { openHome } from '../../../test/support/commandLine.ts'
import { plainEngine, plainProduct } from '../../../test/support/plainProduct.ts'
import { skipWith } from '../../../test/support/skipWith.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { withOther } from '../../../test/support/withOther.ts'
import { cpuReportData, workNonce } from '../../core/attest/binding.ts'
import { writeBundle } from '../../core/attest/bundle.ts'
import { readReport } from '../../core/attest/spdm.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { issueReceipt } from '../../core/certificate/receiptEvidence.ts'
import { EngineRun } from '../../core/work/engineRun.ts'
import { proveWork } from '../../core/work/proveWork.ts'
import { linksOf } from '../../core/work/stateChain.ts'

const { folder, commands } = openHome()

const written = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const at = '2026-11-15T12:00:00Z'
const hardware = makeHardware(Date.parse(at))
const gpu = new TestDevice(hardware.vendor)
const nonce = Buffer.alloc(32, 0x42)
const bundle = bundleOf([gpu], nonce)
const [device] = bundle.devices
const nvidia = [
  {
    arch: 'HOPPER',
    nonce: nonce.toString('hex'),
    evidence: Buffer.from(device!.report).toString('base64'),
    certificate: Buffer.from(device!.chain).toString('base64'),
  },
]
const file = written('evidence.json', JSON.stringify(nvidia, null, 2))
const policy = written('policy.json', JSON.stringify(hardware.policy))
const [driver, vbios] = hardware.rims as [Buffer, Buffer]
const rims = [
  ...['--rim', written('driver.xml', driver)],
  // As NVIDIA's service hands it out.
  ...['--rim', written('vbios.json', JSON.stringify({ id: 'x', rim: vbios.toString('base64') }))],
]
const ocsp = hardware
  .answers([gpu])
  .flatMap((answer, i) => ['--ocsp', written(`${i}.ocsp`, i === 0 ? answer : answer.toString('base64'))])
const asked = ['--nonce', nonce.toString('hex'), '--at', at, '--policy', policy]

describe('touchstone check of evidence beside the receipt of a work', () => {
  const { work, given } = plainProduct({ rows: 8, columns: 6, k: 40, block: 4 })
  const run = new EngineRun(plainEngine(), work, given)
  const marks = work.ends.map((_, segment) => run.advance(segment))
  const watcher = testSigner(7)
  const { publicKey: proverKey } = testSigner(8)
  const firstRoot = new Uint8Array(32)
  const receipt = async (name: string, key: Uint8Array) => {
    const proof = await proveWork(work, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draw)))
    const times = {
      startedAt: '2026-11-15T11:59:00.000Z',
      issuedAt: '2026-11-15T12:00:00.000Z',
      notAfter: '2026-12-15T12:00:00.000Z',
    }
    const said = { workId: work.workId, orderId: work.orderId, seed: work.seed, spec: work.text, proverKey: key }
    const facts = { ...said, ...times, program: 'test', device: 'test', drawnBy: 'listener', elapsedUs: 1 } as const
    return written(name, issueReceipt({ ...facts, ...proof, firstRoot, marks }, watcher))
  }
  const lastLink = linksOf(work.workId, firstRoot, marks).at(-1)!
  const bound = bundleOf([gpu], workNonce(work.workId, proverKey, lastLink))
  const beside = written('beside.json', writeBundle(bound))
  const trusting = ['--trust', toHex(watcher.publicKey)]
  const judged = ['--at', at, '--policy', policy, ...rims, ...ocsp]

  test('belongs to that work and to no other, and the receipt is that of a trusted signer', async () => {
    const ours = await receipt('work.json', proverKey)
    const { status, stdout, stderr } = await commands.run(['check', beside, '--receipt', ours, ...trusting, ...judged])
    expect([stderr, status, stdout]).toEqual(['', 0, expect.stringContaining('GENUINE')])
    // Attack 415: a work is of one device, whoever else lends his evidence.
    const many = written('many.json', writeBundle({ ...bound, devices: [...bound.devices, ...bound.devices] }))
    const lent = await commands.run(['check', many, '--receipt', ours, ...trusting, ...judged])
    expect([lent.status, lent.stdout]).toEqual([1, expect.stringContaining('OTHER_DEVICES')])
    // Attack 417: the prover itself is no watcher of when it was made.
    const own = await receipt('own.json', watcher.publicKey)
    const alone = await commands.run(['check', beside, '--receipt', own, ...trusting, ...judged])
    expect([alone.status, alone.stderr]).toEqual([2, expect.stringContaining('SELF_DRAWN')])
    // Attack 423: it speaks for the age of evidence only while it is valid.
    for (const [moment, code] of [
      ['2026-11-15T11:00:00Z', 'FROM_THE_FUTURE'],
      ['2026-12-16T12:00:00Z', 'EXPIRED'],
    ] as const) {
      const words = ['check', beside, '--receipt', ours, ...trusting, ...judged.with(1, moment)]
      const old = await commands.run(words)
      expect([old.status, old.stderr]).toEqual([2, expect.stringContaining(code)])
    }
    const theirs = await receipt('theirs.json', testSigner(9).publicKey)
    const other = await commands.run(['check', beside, '--receipt', theirs, ...trusting, ...judged])
    expect([other.status, other.stdout]).toEqual([1, expect.stringContaining('NONCE_DIFFERS')])
    const unknown = await commands.run(['check', beside, '--receipt', ours, ...judged])
    expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining('NOT_A_RECEIPT')])
    const none = await commands.run(['check', beside, '--receipt', beside, ...trusting, ...judged])
    expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('NOT_A_RECEIPT')])
  })

  test.each(['2026-11-15T00:00:00.000Z', '2026-11-16T00:00:00.000Z'])(
    'attack 244: the signer of that receipt was revoked, on %s',
    async (since) => {
      const ours = await receipt('revoked-work.json', proverKey)
      const keys = [{ key: toHex(watcher.publicKey), status: 'revoked', since }]
      const revoked = written('revoked.json', JSON.stringify({ version: 1, keys }))
      const asked = ['check', beside, '--receipt', ours, ...trusting, ...judged, '--revoked', revoked]
      const { status, stderr } = await commands.run(asked)
      expect([status, stderr]).toEqual([2, expect.stringContaining('SIGNER_REVOKED')])
    },
  )

  test('whoever trusts a signer trusts its successor, for a receipt beside evidence too', async () => {
    const ours = await receipt('successor-work.json', proverKey)
    const [key, successor] = [testSigner(9), watcher].map(({ publicKey }) => toHex(publicKey))
    const keys = [{ key, status: 'rotated', since: '2026-11-14T00:00:00.000Z', successor }]
    const rotated = JSON.stringify({ version: 1, keys })
    const named = ['--revoked', written('rotated.json', rotated)]
    const onEvidence = ['check', beside, '--receipt', ours, '--trust', key!, ...judged]
    const onReceipt = ['check', ours, '--trust', key!]
    // Attack 366: the named list may be anybody's.
    expect(await commands.run([...onEvidence, ...named])).toMatchObject({ status: 2 })
    const refused = await commands.run([...onReceipt, ...named])
    expect([refused.status, refused.stdout]).toEqual([1, expect.stringContaining('UNKNOWN_SIGNER')])
    const own = written('home/revoked.json', rotated)
    const [beyond, text, json] = [
      await commands.run(onEvidence),
      await commands.run(onReceipt),
      await commands.run([...onReceipt, '--json']),
    ]
    rmSync(own)
    expect(beyond).toMatchObject({ stderr: '', status: 0 })
    expect(text.stdout.replace(/\s+/g, ' ')).toContain(`signed by ${successor} successor of ${key}`)
    expect(JSON.parse(json.stdout)).toMatchObject({ signers: [successor], successorOf: { [successor!]: key } })
  })
})

describe('touchstone check of evidence that NVIDIA tools wrote', () => {
  test('ends with 0 where all of it was handed in and holds', async () => {
    const { status, stdout } = await commands.run(['check', file, ...asked, ...rims, ...ocsp])
    expect(stdout).toContain('GENUINE')
    expect(stdout).toContain(gpu.pdi)
    expect(status).toBe(0)
  })

  test('ends with 4 and says what is not established', async () => {
    const { status, stdout } = await commands.run(['check', file, '--at', at, '--policy', policy, '--json'])
    const { tier, established, doubts } = JSON.parse(stdout)
    expect({ status, tier, established }).toEqual({ status: 4, tier: 'B', established: false })
    expect(doubts.map((doubt: { code: string }) => doubt.code)).toEqual([
      'NONCE_NOT_YOURS',
      'NO_GOLDEN_VALUES',
      'NO_REVOCATION',
    ])
  })

  test.each<[string, readonly string[], string]>([
    ["under NVIDIA's roots", ['check', file], 'UNKNOWN_ROOT'],
    ['for another nonce', ['check', file, ...withOther(asked, ['--nonce', '00'.repeat(32)])], 'NONCE_DIFFERS'],
    [
      'at another time',
      ['check', file, ...withOther([...asked, ...ocsp], ['--at', '2026-12-15T12:00:00Z'])],
      'OCSP_STALE',
    ],
    ['cut short', ['check', written('cut.json', JSON.stringify(nvidia).slice(0, 900)), ...asked], 'EVIDENCE_MALFORMED'],
    [
      'of five megabytes',
      ['check', written('huge.json', `[{${' '.repeat(5 * 2 ** 20)}}]`), ...asked],
      'EVIDENCE_TOO_LARGE',
    ],
    [
      'nested without end',
      ['check', written('deep.json', `[{"a":${'['.repeat(3_000_000)}`), ...asked],
      'EVIDENCE_MALFORMED',
    ],
    ['with golden values that are none', ['check', file, ...asked, '--rim', policy], 'EVIDENCE_MALFORMED'],
  ])('%s it is refused, with a next step', async (_, words, refusal) => {
    const { status, stdout } = await commands.run([...words])
    expect(stdout).toContain(`[${refusal}]`)
    expect(stdout).toMatch(/ {2}now {2}.+/)
    expect(status).toBe(1)
  })

  test('a bundle of ours is the same', async () => {
    const ours = written('bundle.json', writeBundle({ ...bundle, rims: hardware.rims, ocsp: hardware.answers([gpu]) }))
    expect((await commands.run(['check', ours, ...asked])).status).toBe(0)
  })

  test.each([
    ['a policy', '--policy', 'BAD_POLICY'],
    ["Intel's statements", '--collateral', 'BAD_COLLATERAL'],
  ])('%s: a file that holds none is told as such', async (_, option, code) => {
    const { status, stderr } = await commands.run(['check', file, option, file])
    expect(stderr).toContain(code)
    expect(status).toBe(2)
  })
})

describe('attack 282: what an option brings is looked at, or refused', () => {
  const bare = { ...hardware.policy, rim: 'ignored', ocsp: 'ignored' }
  const deaf = ['--nonce', nonce.toString('hex'), '--at', at, '--policy', written('deaf.json', JSON.stringify(bare))]

  test.each([
    ['golden values', rims],
    ['answers about revocation', ocsp],
  ])('%s, by a policy that ignores them', async (_, option) => {
    expect((await commands.run(['check', file, ...deaf])).status).toBe(0)
    const { status, stderr } = await commands.run(['check', file, ...deaf, ...option])
    expect([status, stderr]).toEqual([2, expect.stringContaining('[POLICY_IGNORES]')])
  })

  test("Intel's statements, of which the file has none", async () => {
    const empty = ['--collateral', written('none.json', '{}')]
    const { status, stderr } = await commands.run(['check', file, ...asked, ...rims, ...ocsp, ...empty])
    expect([status, stderr]).toEqual([2, expect.stringContaining('[BAD_COLLATERAL]')])
  })
})

if (!hasFixtures) skipWith('a real GPU by its file', WHY_NOT)
else
  test("a file of NVIDIA's SDK, by the built-in policy", async () => {
    const real = written('real.json', fixture('attestation-sdk/hopper_evidence.json'))
    const own = 'e97b23a1718095a0e9e35edca810768c70a6a5a389b705e753b197912bc11576'
    const { status, stdout } = await commands.run(['check', real, '--nonce', own])
    expect(stdout).toContain('GH100 A01 GSP BROM 2921ce551e4eeda3')
    expect(status).toBe(4)
  })

describe('a processor beside the cards', () => {
  const { amd } = hardware
  const reportData = cpuReportData(nonce, new Uint8Array(0), [readReport(device!.report).signed])
  const report = amd.report({ reportData })
  const endorsed = { rims: hardware.rims, ocsp: hardware.answers([gpu]) }
  const holds = (name: string, crl?: Buffer) => {
    const cpu = { kind: 'sev-snp', report, certificates: amd.certificates, ...(crl ? { crl } : {}) } as const
    return written(name, writeBundle({ ...bundle, ...endorsed, cpu }))
  }
  const family = amd.holders[1]!
  const imaged = [...asked.slice(0, -1), written('imaged.json', JSON.stringify(hardware.imagePolicy))]
  const ofToday = ['--crl', written('today.crl', amd.crl(Date.parse(at), [family]))]

  test("attack 260: AMD's list in the reader's hand counts, whatever list the sender put beside his report", async () => {
    const older = holds('older-list.json', amd.crl(Date.parse(at)))
    expect((await commands.run(['check', older, ...imaged])).status).toBe(0)
    const { status, stdout } = await commands.run(['check', older, ...imaged, ...ofToday])
    expect([status, stdout]).toEqual([1, expect.stringContaining('CERTIFICATE_REVOKED')])
  })
  test('attack 290: a policy that names an image is no yes where no processor attests', async () => {
    const { status, stdout } = await commands.run(['check', file, ...imaged, ...rims, ...ocsp])
    expect([status, stdout]).toEqual([4, expect.stringMatching(/processor.*NOT_ATTESTED/s)])
  })
  test('attack 261: a list for processors is no yes where none attests', async () => {
    for (const option of [ofToday, ['--collateral', written('intel.json', '{"tcb_info":"{}"}')]]) {
      const { status, stdout } = await commands.run(['check', file, ...asked, ...rims, ...ocsp, ...option])
      expect([status, stdout]).toEqual([4, expect.stringContaining('NOT_ATTESTED')])
    }
  })
})
