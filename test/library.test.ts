import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { asOptions } from '../src/apps/check/asOptions.ts'
import { toHex } from '../src/core/bytes/hex.ts'
import { DOUBTS } from '../src/core/certificate/doubts.ts'
import { PROBLEMS } from '../src/core/certificate/problems.ts'
import { checkReportSchema } from '../src/core/certificate/reportSchemas.ts'
import { checkCertificate } from '../src/exports/index.ts'
import { honestCertificate } from './support/honestCertificate.ts'
import { summaryOf } from './support/syntheticCertificate.ts'
import { VALIDATOR } from './support/verifyInProcess.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const bundle = join(root, 'dist/browser/touchstone.js')
const trust = [toHex(VALIDATOR.publicKey)]
mkdirSync(join(root, '.build'), { recursive: true })
// Inside the package, so that its own name leads to it.
const folder = mkdtempSync(join(root, '.build/library-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let certificate: string
let nowMs: number
beforeAll(async () => {
  ;({ certificate, nowMs } = await honestCertificate())
})

describe('checkCertificate', () => {
  test('has a typed answer, the one that the schema describes', async () => {
    const heard: string[] = []
    const onProgress = (done: number, of: number) => heard.push(`${done}/${of}`)
    const report = await checkCertificate(certificate, { trust, nowMs, threads: 1, onProgress })
    expect(report).toMatchObject({ kind: 'certificate', format: 1, verdict: 'genuine', newlineAdded: false })
    expect(checkReportSchema.safeParse(JSON.parse(JSON.stringify(report))).error).toBeUndefined()
    expect(heard.at(-1)).toBe(`${report.openings}/${report.openings}`)
  })

  test('attack 454: holds what its reader was sold against a run, and against no word of a signer', async () => {
    const summary = summaryOf(certificate)
    const asked = { trust, nowMs, threads: 1 }
    expect(await checkCertificate(summary, asked)).toMatchObject({ kind: 'summary' })
    const held = await checkCertificate(summary, { ...asked, claim: 'RTX 4090' })
    expect(held).toMatchObject({ kind: 'refused', problem: { code: 'NOT_A_CERTIFICATE' } })
    expect(await checkCertificate(summary, { ...asked, claim: 'RTX 4090', full: certificate })).toMatchObject({
      kind: 'certificate',
    })
  })

  test('forgives a missing last line end and says so, but nothing else', async () => {
    const check = (text: string) => checkCertificate(text, { trust, nowMs, threads: 1 })
    const cut = certificate.slice(0, -1)
    expect(await check(cut)).toMatchObject({ verdict: 'genuine', newlineAdded: true })
    for (const bent of [
      `${cut}\r\n`,
      `${cut} `,
      ` ${cut}`,
      cut.slice(0, -1),
      `${certificate}\n`,
      `\ufeff${certificate}`,
    ])
      expect(await check(bent)).toMatchObject({ verdict: 'rejected', kind: 'refused' })
  })

  test.each([
    ['a stranger', { trust: ['00'.repeat(32)] }, 'UNKNOWN_SIGNER'],
    ['too old', { trust, maxAgeSeconds: 0 }, 'TOO_OLD'],
    ['another box', { trust, prover: '00'.repeat(32) }, 'WRONG_PROVER'],
    ['another signer', { trust, requireSigners: ['00'.repeat(32)] }, 'WRONG_SIGNER'],
    ['too few signers', { trust, leastSigners: 2 }, 'TOO_FEW_SIGNERS'],
  ])('refuses %s', async (_, options, code) => {
    const report = await checkCertificate(certificate, { nowMs: nowMs + 10_000, ...options })
    expect(report).toMatchObject({ verdict: 'rejected', kind: 'refused', problem: { code } })
    // In the words of a program: no flag of a command line.
    expect(JSON.stringify(report)).not.toContain('--')
  })

  test('what to do next is told as an option of the call', async () => {
    const { problem } = (await checkCertificate(certificate, { trust: [], nowMs })) as {
      problem?: { nextStep: string }
    }
    expect(problem?.nextStep).toContain('add trust: [KEY].')
    const told = [PROBLEMS, DOUBTS].flatMap((table) => Object.values(table).map((row) => Object.values(row).join(' ')))
    for (const text of told) expect(asOptions(text)).not.toMatch(/--[a-z]|touchstone check/)
    expect(asOptions(DOUBTS.SUMMARY_ALONE.nextStep)).toBe('Check it together with its certificate: full FILE.')
    expect(asOptions(PROBLEMS.TOO_OLD.meaning)).toBe('it is older than maxAgeSeconds allows')
  })

  test('attack 202: a genuine box is held against what its reader was sold', async () => {
    const check = (claim: string) => checkCertificate(certificate, { trust, nowMs, threads: 1, claim })
    const report = await check('8x H100 SXM')
    expect(report).toMatchObject({ verdict: 'not-as-claimed', readerJudgement: { claim: { text: '8x H100 SXM' } } })
    await expect(check('8x H1000')).rejects.toThrow('claim: the catalogue has no card of that name')
  })

  test('attack 396: keys that ended give trust to nobody', async () => {
    const other = 'ab'.repeat(32)
    const rotated = { key: other, status: 'rotated' as const, since: '2020-01-01T00:00:00.000Z', successor: trust[0]! }
    const check = checkCertificate(certificate, { trust: [other], nowMs, threads: 1, revocations: [rotated] })
    expect(await check).toMatchObject({ verdict: 'rejected', problem: { code: 'UNKNOWN_SIGNER' } })
  })

  test('attack 406: a key with two successors was revoked, and what it dated before that is a doubt', async () => {
    const ends = ['ab', 'cd'].map((one) => ({
      ...{ key: trust[0]!, status: 'rotated' as const, successor: one.repeat(32) },
      since: new Date(nowMs + 86_400_000).toISOString(),
    }))
    const check = (revocations: typeof ends) => checkCertificate(certificate, { trust, nowMs, threads: 1, revocations })
    expect(await check(ends.slice(0, 1))).toMatchObject({ doubts: [] })
    expect(await check(ends)).toMatchObject({
      verdict: 'not-established',
      doubts: [{ code: 'SIGNER_REVOKED_SINCE' }],
    })
  })

  test('a bad option throws', async () => {
    await expect(checkCertificate(certificate, { trust: ['abc'] })).rejects.toThrow('trust[0] is not a key')
  })

  test.each<[string, object]>([
    ['leastSigners', { leastSigners: Number.NaN }],
    ['leastSigners', { leastSigners: 0 }],
    ['maxAgeSeconds', { maxAgeSeconds: Number.NaN }],
    ['nowMs', { nowMs: Number.NaN }],
    ['revocations', { revocations: [{ key: 'AB'.repeat(32), status: 'revoked', since: '2020-01-01T00:00:00.000Z' }] }],
    ['revocations', { revocations: [{ key: trust[0], status: 'rotated', since: '2020', successor: trust[0] }] }],
    ['revocations', { revocations: { version: 1, keys: [] } }],
  ])('attack 145: a rule that refuses nothing, since %s is none, throws: %o', async (name, options) => {
    const check = checkCertificate(certificate, { trust, nowMs, threads: 1, ...options })
    await expect(check).rejects.toThrow(name)
  })

  test.each([Number.NaN, 0, Number.POSITIVE_INFINITY])(
    'attack 319: %d threads, which would never answer',
    async (threads) => {
      await expect(checkCertificate(certificate, { trust, nowMs, threads })).rejects.toThrow('threads is not a number')
    },
  )

  test.each<[string, object]>([
    ['signer', { signer: 'ab'.repeat(32) }],
    ['maxAge', { maxAge: 1 }],
    ['revoked', { revoked: [{ key: trust[0], status: 'revoked', since: new Date(0).toISOString() }] }],
  ])('attack 194: a rule under a name that there is not, %s, throws', async (name, options) => {
    const check = checkCertificate(certificate, { trust, nowMs, threads: 1, ...options })
    await expect(check).rejects.toThrow(`there is no option ${name}`)
  })

  test('the bundle for a browser says the same, and is small', async () => {
    const browser: { checkCertificate: typeof checkCertificate } = await import(bundle)
    const options = { trust, nowMs, threads: 1 }
    const [inNode, inTab] = await Promise.all([
      checkCertificate(certificate, options),
      browser.checkCertificate(certificate, options),
    ])
    expect(inTab).toEqual(inNode)
    const bent = certificate.replace(/"payload":"(.{1000})./, (_, head) => `"payload":"${head}A`)
    expect(await browser.checkCertificate(bent, options)).toMatchObject({ problem: { code: 'BAD_SIGNATURE' } })
    const script = readFileSync(bundle, 'utf8')
    const rest = ['engine.wasm', 'engine-relaxed.wasm'].reduce((text, name) => {
      const wasm = readFileSync(join(root, 'kernels/built', name)).toString('base64')
      expect(text).toContain(wasm)
      return text.replace(wasm, '')
    }, script)
    const zipped = gzipSync(rest, { level: 9 }).length
    console.info(`check in a browser: ${zipped} bytes of script with gzip, beside the WebAssembly`)
    expect(zipped).toBeLessThan(84_000)
  })
})

test('the examples of docs/guides/developer.md compile, run, and say what they should', async () => {
  const page = readFileSync(join(root, 'docs/guides/developer.md'), 'utf8')
  const examples = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!)
  expect(examples.length).toBe(3)
  writeFileSync(join(folder, 'touchstone-certificate.json'), certificate)
  for (const [i, code] of examples.entries()) {
    writeFileSync(join(folder, `example${i}.ts`), code)
    writeFileSync(join(folder, `example${i}.js`), (await transform(code, { loader: 'ts', format: 'esm' })).code)
  }
  const options = { extends: '../../tsconfig.json', include: ['*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options))
  const run = (...args: string[]) => {
    const env = { ...process.env, VALIDATOR_KEY: trust[0] }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' })
    return { status, said: `${stdout}${stderr}` }
  }
  expect(run(join(root, 'node_modules/typescript/bin/tsc'), '-p', folder)).toEqual({ status: 0, said: '' })
  // The run took place in virtual time, long ago.
  expect(run('example0.js')).toEqual({ status: 0, said: 'rejected\n' })
  expect(run('example1.js')).toEqual({
    status: 0,
    said: expect.stringMatching(/^(genuine|not-established): .* signed by [0-9a-f]{64}\nthe file is not a cert.*\n$/),
  })
  expect(run('example2.js')).toEqual({ status: 0, said: '' })
})
