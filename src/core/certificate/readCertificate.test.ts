import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { honestProgram } from '../../../test/support/inProcessBox.ts'
import { openReferenceDevice } from '../../../test/support/openReferenceDevice.ts'
import { problemOf } from '../../../test/support/problemOf.ts'
import { testEngine } from '../../../test/support/testEngine.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { VALIDATOR, verifyInProcess } from '../../../test/support/verifyInProcess.ts'
import { toBase64 } from '../bytes/base64.ts'
import type { Catalogue } from '../identify/catalogue.ts'
import type { TileEngine } from '../proof/tileEngine.ts'
import { MAX_CERTIFICATE_BYTES, openEnvelope, sealEnvelope } from './envelope.ts'
import { PROBLEMS } from './problems.ts'
import { ensureDepth, readCertificate } from './readEvidence.ts'

let certificate: string
let kit: { engine: TileEngine; catalogue: Catalogue }
beforeAll(async () => {
  kit = { engine: await testEngine(), catalogue: await shippedCatalogue() }
  const program = honestProgram({ devices: [openReferenceDevice({ engine: kit.engine })] })
  certificate = (await verifyInProcess({ ...kit, program, options: { memory: true } })).certificate
})

const trusts = () => true
const codeOf = (text: string): string => {
  const read = readCertificate(text, trusts)
  if (!('code' in read)) return 'VALID'
  expect(PROBLEMS[read.code]).toBeDefined()
  return read.code
}

const flip = (text: string, at: number, bit: number): string =>
  text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << bit)) + text.slice(at + 1)

describe('a certificate', () => {
  test('as issued, it holds', async () => {
    expect(codeOf(certificate)).toBe('VALID')
    expect(await problemOf(certificate, kit)).toBeNull()
  })

  test('attack 49: a bit changed in any letter outside the payload is refused', () => {
    const payload = certificate.indexOf('"payload":"') + 11
    const end = certificate.indexOf('"', payload)
    const signed = /[0-9a-f]{64}|[A-Za-z0-9+/]{86}==/g
    const inSignature = new Set<number>()
    for (const { index, 0: found } of certificate.slice(end).matchAll(signed))
      for (let i = 0; i < found.length; i++) inSignature.add(end + index + i)
    expect(inSignature.size).toBe(64 + 88)
    for (let at = 0; at < certificate.length; at = at === payload - 1 ? end : at + 1)
      // Key and signature cost a check each: one bit of every letter there, two of everything else.
      for (const bit of inSignature.has(at) ? [at % 3] : [at % 8, (at + 3) % 8])
        expect([at, bit, codeOf(flip(certificate, at, bit))]).not.toEqual([at, bit, 'VALID'])
  })

  test('property: attack 49, any byte changed, left out or put in, anywhere, is refused', () => {
    const edit = fc.record({
      at: fc.nat(),
      what: fc.constantFrom('change', 'remove', 'insert', 'cut'),
      letter: fc.constantFrom(...'AZaz09+/="{}[],: \n\u0000\u0141'),
    })
    fc.assert(
      fc.property(edit, ({ at: drawn, what, letter }) => {
        const at = drawn % certificate.length
        const before = certificate.slice(0, at)
        const changed = {
          change: before + letter + certificate.slice(at + 1),
          remove: before + certificate.slice(at + 1),
          insert: before + letter + certificate.slice(at),
          cut: before,
        }[what]!
        fc.pre(changed !== certificate)
        expect(codeOf(changed)).not.toBe('VALID')
      }),
      { numRuns: 40 },
    )
  })

  test.each<[string, string, () => string]>([
    ['an empty file', 'EMPTY', () => ''],
    ['another file', 'NOT_A_CERTIFICATE', () => '{}'],
    ['half of it', 'TRUNCATED', () => certificate.slice(0, certificate.length / 2)],
    ['twice the same', 'NOT_CANONICAL', () => certificate + certificate],
    ['a space more', 'NOT_CANONICAL', () => `${certificate} `],
    ['a payload that is no text', 'MALFORMED', () => sealed(Uint8Array.of(0xff, 0xfe))],
    ['a payload that is null', 'MALFORMED', () => sealed('null')],
    ['a payload of brackets', 'MALFORMED', () => sealed('['.repeat(1_000_000))],
    ['another version', 'OTHER_VERSION', () => sealed('{"predicateType":"urn:touchstone:proof-of-gpu:3"}')],
    ['an empty object', 'MALFORMED', () => sealed('{}')],
    ['no end', 'TOO_LARGE', () => 'x'.repeat(MAX_CERTIFICATE_BYTES + 1)],
  ])('%s is refused: %s', (_, code, make) => expect(codeOf(make())).toBe(code))

  test('signed by a key nobody trusts, nothing inside is read', () => {
    const read = readCertificate(sealEnvelope(new TextEncoder().encode('{"a":'.repeat(9)), testSigner(5)), () => false)
    expect(read).toMatchObject({ code: 'UNKNOWN_SIGNER' })
  })

  test('property: what was sealed opens, and only under its own key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (payload) => {
        const text = sealEnvelope(payload, VALIDATOR)
        expect(openEnvelope(text)).toMatchObject({ payload, signerKeys: [VALIDATOR.publicKey] })
        const other = text.replace(
          /"keyid":"[0-9a-f]{64}"/,
          `"keyid":"${Buffer.from(testSigner(4).publicKey).toString('hex')}"`,
        )
        expect(openEnvelope(other)).toMatchObject({ code: 'BAD_SIGNATURE' })
        expect(openEnvelope(text.replace(toBase64(payload), toBase64(Uint8Array.of(...payload, 0))))).toHaveProperty(
          'code',
        )
      }),
      { numRuns: 20 },
    )
  })

  test('property: depth is counted as a parser would', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(7), (value, limit) => {
        const check = () => ensureDepth(new TextEncoder().encode(JSON.stringify(value)), limit)
        if (depthOf(value) > limit) expect(check).toThrow()
        else check()
      }),
    )
  })
})

const sealed = (payload: string | Uint8Array): string =>
  sealEnvelope(typeof payload === 'string' ? new TextEncoder().encode(payload) : payload, VALIDATOR)
