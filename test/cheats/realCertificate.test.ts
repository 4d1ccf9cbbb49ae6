import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { fromBase64, toBase64 } from '../../src/core/bytes/base64.ts'
import { fromHex, toHex } from '../../src/core/bytes/hex.ts'
import { judgementProblem } from '../../src/core/certificate/judgementProblem.ts'
import { judgeRun } from '../../src/core/certificate/judgeRun.ts'
import type { ReadCertificate } from '../../src/core/certificate/readCertificate.ts'
import { readCertificate } from '../../src/core/certificate/readEvidence.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import { openingRanges, sampleRanges } from '../../src/core/proof/openingRanges.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { type OpeningRange, type Run, verifyOpenings } from '../../src/core/proof/verifyPart.ts'
import { checkCertificate, checkSummary } from '../../src/exports/certificate.ts'
import { seededUniform } from '../sim/gpuMeasurements.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { fileOf, readerRules } from '../support/problemOf.ts'
import { testEngine } from '../support/testEngine.ts'

/** A mainnet run on an NVIDIA H200, as its validator issued it. */
const text = readFileSync(new URL('../../bench/fixtures/h200-mainnet.json', import.meta.url), 'latin1')

let read: ReadCertificate
let engine: TileEngine
let sample: readonly OpeningRange[]
beforeAll(async () => {
  engine = await testEngine()
  read = readCertificate(text, () => true) as ReadCertificate
  const uniform = seededUniform(1)
  sample = sampleRanges(openingRanges(read.run), 24, (below) => Math.floor(uniform() * below))
})

const verify = (run: Run, ranges = sample) => ranges.map((range) => verifyOpenings(run, range, engine)?.code ?? 'holds')

/** The run with one thing changed in one part. */
const withPart = (p: number, change: (part: Run['parts'][number]) => Run['parts'][number]): Run => ({
  ...read.run,
  parts: read.run.parts.map((part, i) => (i === p ? change(part) : part)),
})

describe('the certificate of a real card', () => {
  test('reads, and 24 openings drawn from it hold', () => {
    expect(read).not.toHaveProperty('code')
    expect(new Set(verify(read.run))).toEqual(new Set(['holds']))
  })

  test('attack 49: its judgement is accepted only as it was issued', async () => {
    const catalogue = await shippedCatalogue()
    expect(judgementProblem(read, catalogue, null).problem).toBeNull()
    const { predicate } = read.statement
    const faster = structuredClone(predicate)
    const [device] = faster.judgement.devices as unknown as { rates: { int8: number } }[]
    device!.rates.int8 += 1
    const lying = { ...read, statement: { ...read.statement, predicate: faster } }
    expect(judgementProblem(lying, catalogue, null).problem?.code).toBe('WRONG_JUDGEMENT')
  })

  test('holds under every preset for a reader with another catalogue, though what rests on the catalogue differs', async () => {
    const catalogue = await shippedCatalogue()
    const other = { ...catalogue, models: catalogue.models.filter(({ id }) => !/^(gh200|h[12]00)/.test(id)) }
    for (const preset of [PRESETS.mainnet, PRESETS.custom]) {
      const judged = (by: Catalogue) =>
        judgeRun({
          run: read.run,
          preset,
          deviceClasses: ['gpu'],
          catalogue: by,
          claim: null,
          roundTripUs: 0,
          rejected: null,
        })
      const [stated, ours] = [judged(catalogue), judged(other)]
      expect(stated.devices[0]!.memory!.floorBytes).toBeLessThan(ours.devices[0]!.memory!.floorBytes!)
      const predicate = structuredClone(read.statement.predicate)
      Object.assign(predicate.claims, { text: null })
      const issued = { ...predicate, judgement: stated }
      const certificate = { ...read, preset, statement: { ...read.statement, predicate: issued } }
      expect(judgementProblem(certificate, other, null)).toMatchObject({ problem: null, recomputed: false })
    }
  })

  test('attack 10: openings of one part do not serve another', () => {
    const first = read.run.parts[0]!
    const swapped = withPart(1, (part) => ({
      ...part,
      devices: part.devices.map((device) => ({ ...device, openings: first.devices[0]!.openings })),
    }))
    expect(verify(swapped, [{ part: 1, device: 0, from: 0, to: 1 }])).not.toEqual(['holds'])
  })

  test('attack 29: a root replaced changes the questions, and nothing opens any more', () => {
    const faked = withPart(0, (part) => ({
      ...part,
      devices: part.devices.map((device) => ({
        ...device,
        roots: device.roots.map((root, i) => (i === 1 ? new Uint8Array(32) : root)),
      })),
    }))
    expect(verify(faked, [{ part: 0, device: 0, from: 0, to: 8 }])).toEqual(['OPENING_DOES_NOT_REACH_ROOT'])
  })

  test('attack 49: a letter of the payload changed is refused', () => {
    const from = text.indexOf('"payload":"') + 11
    const bytes = fromBase64(text.slice(from, text.indexOf('"', from)))!
    bytes[bytes.length >> 1] = bytes[bytes.length >> 1]! ^ 1
    const changed = text.slice(0, from) + toBase64(bytes) + text.slice(text.indexOf('"', from))
    expect(readCertificate(changed, () => true)).toMatchObject({ code: 'BAD_SIGNATURE' })
  })
})

/** The same card under version 2, with the summary of that run. */
describe('the second certificate of a real card', () => {
  const fixture = (name: string) => readFileSync(new URL(`../../bench/fixtures/${name}`, import.meta.url), 'latin1')
  const [full, summary] = [fixture('h200-mainnet-2.json'), fixture('h200-summary.json')]
  const signer = fromHex(JSON.parse(full).signatures[0].keyid, 32)!
  const issued = Date.UTC(2026, 10, 15, 21)
  const rules = (catalogue: Catalogue) => ({ ...readerRules(catalogue), trusted: [signer], nowMs: issued })
  const none = async () => null

  test('holds with its summary, is as claimed, and leaves no doubt', async () => {
    const checked = await checkSummary(fileOf(summary), fileOf(full), rules(await shippedCatalogue()), none)
    expect(checked).toMatchObject({ kind: 'certificate', problem: null, doubts: [], recomputed: true })
    expect(checked).toMatchObject({ ours: { outcome: 'accepted', claim: { verdict: 'matches' } } })
  })

  test('attack 426: a rule that would be none is told, and an answer that is no yes is none', async () => {
    const given = rules(await shippedCatalogue())
    const check = (changes: object, openings: () => unknown = none) =>
      checkCertificate(fileOf(full), { ...given, ...changes }, openings as typeof none)
    expect(await check({})).toMatchObject({ problem: null, doubts: [] })
    for (const wrong of [
      { nowMs: undefined },
      { nowMs: Number.NaN },
      { threshold: undefined },
      { threshold: Number.NaN },
      { threshold: 0 },
      { maxAgeSeconds: undefined },
      { maxAgeSeconds: Number.NaN },
      { claim: null },
      { prover: undefined },
      { prover: '' },
      { required: new Uint8Array(0) },
      { revocations: undefined },
      { revocations: [{ key: toHex(signer).toUpperCase(), status: 'revoked', since: '2020-01-01T00:00:00.000Z' }] },
    ])
      await expect(check(wrong)).rejects.toThrow(TypeError)
    for (const answer of [undefined, false, 0, '', {}])
      await expect(check({}, async () => answer)).rejects.toThrow('checkOpenings')
    expect(await check({ checkSignature: async () => false })).toMatchObject({ problem: { code: 'BAD_SIGNATURE' } })
    const trusts = (async () => false) as never
    expect(readCertificate(full, trusts)).toMatchObject({ code: 'UNKNOWN_SIGNER' })
  })

  test('attack 82: an edit of the catalogue elsewhere leaves it as it is, one of the card shows', async () => {
    const catalogue = await shippedCatalogue()
    const without = (pattern: RegExp) => ({
      ...catalogue,
      models: catalogue.models
        .filter(({ id }) => !pattern.test(id))
        .map(({ twins, ...model }) => ({ ...model, twins: twins.filter((id) => !pattern.test(id)) })),
    })
    const doubtsBy = async (by: Catalogue) =>
      (await checkCertificate(fileOf(full), rules(by), none)).doubts.map(({ code }) => code)
    expect(await doubtsBy(without(/^t4$/))).toEqual([])
    expect(await doubtsBy(without(/^(gh200|h200)/))).toEqual(['CATALOGUES_DIFFER'])
  })

  test('attack 84: it expires', async () => {
    const later = { ...rules(await shippedCatalogue()), nowMs: issued + 31 * 86_400_000 }
    expect((await checkCertificate(fileOf(full), later, none)).doubts.map(({ code }) => code)).toEqual(['EXPIRED'])
  })
})
