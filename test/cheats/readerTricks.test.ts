import { readFile } from 'node:fs/promises'
import pc from 'picocolors'
import { beforeAll, describe, expect, test } from 'vitest'
import type { AttestationReader } from '../../src/core/attest/attestationReader.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { checkCertificate, checkSummary, type ReaderRules } from '../../src/core/certificate/checkCertificate.ts'
import type { ReadCertificate } from '../../src/core/certificate/readCertificate.ts'
import { readCertificate } from '../../src/core/certificate/readEvidence.ts'
import { reportOfCheck } from '../../src/core/certificate/reportOfCheck.ts'
import type { CheckReport } from '../../src/core/certificate/reportSchemas.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { rateCeiling } from '../../src/core/identify/expected.ts'
import { PRECISION_NAMES } from '../../src/core/params/precision.ts'
import type { PlannedPart } from '../../src/core/proof/partKinds.ts'
import { answerOfCheck } from '../../src/main/check/checkAnswer.ts'
import { checkLines } from '../../src/main/check/checkLines.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { endOf, fileOf, readerRules } from '../support/problemOf.ts'
import {
  asVersion1,
  resigned,
  type Synthetic,
  summaryOf,
  syntheticCertificate,
} from '../support/syntheticCertificate.ts'
import { testSigner } from '../support/testSigner.ts'
import { VALIDATOR } from '../support/verifyInProcess.ts'

const SECOND = testSigner(9)
const ISSUED = Date.UTC(2026, 0, 1)
const DAY = 24 * 3600 * 1000

let catalogue: Catalogue
let watched: string
beforeAll(async () => {
  catalogue = await shippedCatalogue()
  watched = resigned(made({ id: 'h200-sxm', claim: 'H200 SXM' }), () => {}, VALIDATOR, SECOND)
})

const made = (given: Partial<Synthetic>) => syntheticCertificate({ catalogue, id: 'rtx-3060-12gb', ...given })
/** The openings are somebody else's test; here they hold. */
const end = async (text: string, rules: Partial<ReaderRules> = {}) =>
  endOf(await checkCertificate(fileOf(text), { ...readerRules(catalogue), ...rules }, async () => null))
const endWithFull = async (summary: string, full: string, rules: Partial<ReaderRules> = {}) =>
  endOf(await checkSummary(fileOf(summary), fileOf(full), { ...readerRules(catalogue), ...rules }, async () => null))

describe('attack 102: a summary in the names of a foreign catalogue', () => {
  /** The right cards under the right ids, which the reader finds too, but what a buyer reads is another name. */
  const renamed = (): Catalogue => ({
    ...catalogue,
    models: catalogue.models.map((model) =>
      model.id === 'rtx-3060-12gb' ? { ...model, name: 'NVIDIA H100 SXM5 80GB' } : model,
    ),
  })

  test('a weak card that the summary calls an H100 is not established', async () => {
    const full = made({ catalogue: renamed() })
    const summary = summaryOf(full)
    expect(Buffer.from(JSON.parse(summary).payload, 'base64').toString()).toContain('"name":"H100 SXM5 80GB"')
    expect(await endWithFull(summary, full)).toBe('4 CATALOGUES_DIFFER')
    const ours = made({})
    expect(await endWithFull(summaryOf(ours), ours)).toBe('0')
  })

  test('a card that the signer did not know yet is nothing he said', async () => {
    const before: Catalogue = { ...catalogue, models: catalogue.models.filter(({ id }) => id !== 'rtx-3060-12gb') }
    const full = made({ catalogue: before, shownBy: catalogue })
    expect(await endWithFull(summaryOf(full), full)).toBe(await end(full))
  })
})

describe('attack 104: a summary by a key that was revoked', () => {
  test('its score is the word of whoever has the key now', async () => {
    const since = new Date(ISSUED + DAY).toISOString()
    const revocations = [{ key: toHex(SECOND.publicKey), status: 'revoked' as const, since }]
    const rules = { trusted: [VALIDATOR, SECOND].map(({ publicKey }) => publicKey), revocations }
    expect(await endWithFull(summaryOf(watched, SECOND, 1_000_000), watched, rules)).toBe('4 SIGNER_REVOKED_SINCE')
    expect(await endWithFull(summaryOf(watched, VALIDATOR, 5), watched, rules)).toBe('0')
  })
})

test('attack 402: a count that was stated with memory is a doubt where it is more, and any other is refused', async () => {
  const eight = made({ id: 'h200-sxm', devices: 8 })
  const counted = (least: number) =>
    resigned(eight, ({ judgement: { count } }) =>
      Object.assign(count, { least, sentence: `count claimed; the totals need at least ${least} cards` }),
    )
  expect([await end(eight), await end(counted(3))]).toEqual(['0', '0'])
  expect(await end(counted(4))).toBe('4 RULES_DIFFER')
  expect(await end(counted(5))).toBe('1 WRONG_JUDGEMENT')
})

describe('attack 374: the summary of a run that its signer speaks against', () => {
  const unmet = () => summaryOf(made({ claim: '8x H100 SXM' }))
  const rejected = () => resigned(unmet(), (predicate) => Object.assign(predicate, { outcome: 'rejected' }))

  test('ends as that run did, expired or not; what speaks for a box stays open', async () => {
    for (const summary of [unmet(), rejected()]) {
      expect(await end(summary)).toBe('1 SUMMARY_ALONE')
      expect(await end(summary, { nowMs: ISSUED + 31 * DAY })).toBe('1 EXPIRED SUMMARY_ALONE')
      expect(await end(summary, { trusted: [] })).toBe('1 UNKNOWN_SIGNER')
    }
    for (const claim of [null, 'RTX 3060 12GB']) expect(await end(summaryOf(made({ claim })))).toBe('4 SUMMARY_ALONE')
  })

  test.each([
    [unmet, 'NOT AS CLAIMED', /^sold 8 x H100 SXM: weaker, as its signer says$/],
    [rejected, 'REJECTED', /^the run was rejected, as its signer says$/],
  ])('and says so: %#', async (summary, word, text) => {
    const checked = await checkCertificate(fileOf(summary()), readerRules(catalogue), async () => null)
    const openings = { all: 0, checked: 0 }
    const shown = { checked, openings, newlineAdded: false, file: 'sum.json', successorOf: new Map<string, string>() }
    expect(answerOfCheck({ ...shown, ...readerRules(catalogue) }, false)).toMatchObject({
      word,
      text: expect.stringMatching(text),
    })
  })
})

describe('attack 105: a hollow mainnet in the clothes of version 1', () => {
  test.each<[string, (part: PlannedPart) => boolean]>([
    ['int8 alone', ({ kind, precision }) => kind === 'rounds' && precision === 'int8'],
    ['no memory', ({ kind }) => kind !== 'memory'],
    ['no fp8', ({ precision }) => precision !== 'fp8'],
  ])('%s', async (_, keep) => {
    const text = asVersion1(made({ id: 'h200-sxm', version: 1, replan: (plan) => plan.filter(keep) }))
    expect(await end(text)).toBe('4 RULES_DIFFER')
  })

  test('a real one of version 1 is whole', async () => {
    const text = await readFile('bench/fixtures/h200-mainnet.json', 'latin1')
    const read = readCertificate(text, () => true) as ReadCertificate
    const rules = { trusted: read.signerKeys, nowMs: Date.now() }
    expect(await end(text, rules)).toBe('0')
  })
})

test('attack 475: signatures by a stranger and by a key that ended are shown as ones that count for nothing', async () => {
  const [ended, stranger] = [testSigner(10), testSigner(11)]
  const file = resigned(watched, () => {}, VALIDATOR, SECOND, ended, stranger)
  const trusted = [VALIDATOR, SECOND, ended].map(({ publicKey }) => publicKey)
  const revocations = [{ key: toHex(ended.publicKey), status: 'revoked' as const, since: '2020-01-01T00:00:00.000Z' }]
  const rules = { ...readerRules(catalogue), trusted, revocations }
  const checked = await checkCertificate(fileOf(file), rules, async () => null)
  const shown = {
    checked,
    openings: { all: 1, checked: 1 },
    newlineAdded: false,
    ...rules,
    file: '',
    successorOf: new Map(),
  }
  const { established, signers, signersCounted } = reportOfCheck(shown) as CheckReport & { kind: 'certificate' }
  expect({ established, signers: signers.length }).toEqual({ established: true, signers: 4 })
  expect(signersCounted.toSorted()).toEqual([VALIDATOR, SECOND].map(({ publicKey }) => toHex(publicKey)).toSorted())
  const text = checkLines(shown, { colours: pc.createColors(false), columns: 200, isVerbose: false }, []).join(' ')
  for (const key of signers)
    expect(new RegExp(`${key},\\s+which counts for nothing`).test(text)).toBe(!signersCounted.includes(key))
})

test('attack 489: a key that was revoked later, or is the successor of another that signed, is no second validator', async () => {
  const other = testSigner(10)
  const file = resigned(watched, () => {}, VALIDATOR, other)
  const [key, since] = [toHex(other.publicKey), '2026-01-02T00:00:00.000Z']
  const revoked = { key, status: 'revoked' as const, since }
  const rotated = { key: toHex(VALIDATOR.publicKey), status: 'rotated' as const, since, successor: key }
  for (const entry of [revoked, rotated]) {
    const trusted = [VALIDATOR, other].map(({ publicKey }) => publicKey)
    const rules = { ...readerRules(catalogue), trusted, revocations: [entry] }
    const report = async (threshold: number) => {
      const checked = await checkCertificate(fileOf(file), { ...rules, threshold }, async () => null)
      const shown = { checked, openings: { all: 1, checked: 1 }, newlineAdded: false, ...rules, file: '' }
      return reportOfCheck(shown) as CheckReport & { kind: 'certificate' }
    }
    expect((await report(1)).signersCounted).toHaveLength(1)
    expect((await report(2)).established).not.toBe(true)
  }
})

describe('attack 115: more cards than the reader finds, by a catalogue without the large ones', () => {
  test('eight small devices are "at least 3 cards" to the signer, and 1 to the reader: not established', async () => {
    const own = catalogue.models.find(({ id }) => id === 'rtx-3060-12gb')!
    const ceiling = (model: typeof own) => PRECISION_NAMES.map((name) => rateCeiling(model, name, catalogue.rules) ?? 0)
    const small = catalogue.models.filter(
      (model) =>
        own.twins.includes(model.id) ||
        (model.memoryBytes <= 1.34 * own.memoryBytes &&
          ceiling(model).every((rate, i) => rate <= 2.2 * ceiling(own)[i]!)),
    )
    const models = small.map((model) => ({
      ...model,
      twins: model.twins.filter((twin) => small.some(({ id }) => id === twin)),
    }))
    const full = made({ catalogue: { ...catalogue, models }, shownBy: catalogue, devices: 8, claim: '8x RTX 3060' })
    const { judgement } = (readCertificate(full, () => true) as ReadCertificate).statement.predicate
    expect(judgement.count.least).toBe(3)
    expect(await end(full)).toContain('CATALOGUES_DIFFER')
    expect(await endWithFull(summaryOf(full), full)).toContain('CATALOGUES_DIFFER')
  })
})

test('attack 130: a certificate that calls a weak card an H100, by the names of a foreign catalogue', async () => {
  const models = catalogue.models.map((model) =>
    model.id === 'rtx-3060-12gb' ? { ...model, name: 'NVIDIA H100 SXM5 80GB', aliases: ['RTX 3060 12GB'] } : model,
  )
  for (const claim of [null, 'RTX 3060 12GB']) {
    const text = made({ catalogue: { ...catalogue, models }, claim })
    expect(Buffer.from(JSON.parse(text).payload, 'base64').toString()).toContain('"model":"H100 SXM5 80GB"')
    expect(await end(text)).toBe('4 CATALOGUES_DIFFER')
  }
})

describe('attack 168: evidence of a hardware vendor in the place of a certificate', () => {
  /** The evidence holds, and the reader's own nonce is in it. */
  const attestation: AttestationReader = {
    reads: () => true,
    checkFile: async () => ({ tier: 'B', devices: [], cpu: null, doubts: [] }),
    carry: async () => ({ format: '', open: [], close: [] }),
    checkRun: async () => null,
  }

  test.each<[string, Partial<ReaderRules>, string]>([
    ['a signer', { required: [VALIDATOR.publicKey] }, 'WRONG_SIGNER'],
    ['two signers', { threshold: 2 }, 'TOO_FEW_SIGNERS'],
    ['a box', { prover: SECOND.publicKey }, 'WRONG_PROVER'],
    ['an age', { maxAgeSeconds: 3600 }, 'TOO_OLD'],
  ])('a reader who asks for %s is not served with it', async (_, asked, code) => {
    expect(await end('[{}]', { attestation, ...asked })).toBe(`1 ${code}`)
    expect(await end('[{}]', { attestation })).toBe('0')
  })
})

describe('attack 376: cards that fail until the rates please', () => {
  const said = { code: 'GPU_LOST', text: 'card 1: stopped' }
  const lost = (predicate: Parameters<Parameters<typeof resigned>[1]>[0]) => {
    predicate.claims.faults = [said, said]
  }
  const closed = (predicate: Parameters<Parameters<typeof resigned>[1]>[0]) => {
    predicate.claims.inventory.host.gpuFaults = 'card 1: GPU_LOST'
  }

  test.each([
    ['lost in mid-run', lost, 2],
    ['not opened', closed, 1],
  ])('%s: what is left is not the box, in any form', async (_, change, failed) => {
    const text = resigned(watched, change)
    expect(await end(text)).toBe('4 DEVICE_FAILED')
    expect(await end(text, { claim: 'B200' })).toBe('1 DEVICE_FAILED')
    expect(await endWithFull(summaryOf(text), text)).toBe('4 DEVICE_FAILED')
    const checked = await checkCertificate(fileOf(text), readerRules(catalogue), async () => null)
    const openings = { all: 1, checked: 1 }
    const shown = { checked, openings, newlineAdded: false, ...readerRules(catalogue) }
    expect(reportOfCheck(shown)).toMatchObject({ verdict: 'not-established', established: false })
    const answer = answerOfCheck({ ...shown, file: '', successorOf: new Map() }, false)
    expect(answer).toMatchObject({ word: 'NOT ESTABLISHED', text: expect.stringContaining(`${failed} that failed`) })
    expect(answer.why).toContain(`H200 SXM, but for ${failed} that failed`)
  })

  test('of version 1 likewise', async () => {
    const old = asVersion1(made({ version: 1 }))
    expect(await end(old)).toBe('0')
    for (const change of [lost, closed]) expect(await end(resigned(old, change))).toBe('4 DEVICE_FAILED')
  })
})
