import { beforeAll, describe, expect, test } from 'vitest'
import { fromBase64 } from '../../src/core/bytes/base64.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { checkCertificate, checkSummary, type ReaderRules } from '../../src/core/certificate/checkCertificate.ts'
import { sealEnvelope } from '../../src/core/certificate/envelope.ts'
import { MAX_SUMMARY_BYTES } from '../../src/core/certificate/summary.ts'
import { type Catalogue, catalogueHash } from '../../src/core/identify/catalogue.ts'
import { PRECISION_NAMES } from '../../src/core/params/precision.ts'
import type { PlannedPart } from '../../src/core/proof/partKinds.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { endOf, fileOf, readerRules } from '../support/problemOf.ts'
import {
  asVersion1,
  PROVER,
  resigned,
  type Synthetic,
  summaryOf,
  syntheticCertificate,
} from '../support/syntheticCertificate.ts'
import { testSigner } from '../support/testSigner.ts'
import { VALIDATOR } from '../support/verifyInProcess.ts'

let catalogue: Catalogue
let honest: string
beforeAll(async () => {
  catalogue = await shippedCatalogue()
  honest = made({})
})

const made = (given: Partial<Synthetic>) =>
  syntheticCertificate({ catalogue, id: 'h200-sxm', claim: 'H200 SXM', ...given })

/** The openings are somebody else's test; here they hold. */
const check = (text: string, rules: Partial<ReaderRules> = {}) =>
  checkCertificate(fileOf(text), { ...readerRules(catalogue), ...rules }, async () => null)

const end = async (text: string, rules: Partial<ReaderRules> = {}) => endOf(await check(text, rules))

/** The catalogue with other models. */
const edited = (change: (models: Catalogue['models']) => Catalogue['models']): Catalogue => ({
  ...catalogue,
  models: change(catalogue.models),
})

const DAY = 24 * 3600 * 1000
const ISSUED = Date.UTC(2026, 0, 1)

test('an honest certificate of a card that is as claimed ends with 0', async () => {
  expect(await end(honest)).toBe('0')
})

describe("attack 81: an old certificate, or another box's", () => {
  test.each<[string, Partial<ReaderRules>, string]>([
    ['older than was asked', { maxAgeSeconds: 3600 }, '1 TOO_OLD'],
    ['as young as was asked', { maxAgeSeconds: 2 * 86_400 }, '0'],
    ["another box's", { prover: testSigner(8).publicKey }, '1 WRONG_PROVER'],
    ["the box's own", { prover: PROVER.publicKey }, '0'],
    ['not signed by the key that was asked for', { required: [testSigner(9).publicKey] }, '1 WRONG_SIGNER'],
    ['signed by it', { required: [VALIDATOR.publicKey] }, '0'],
    ['issued tomorrow', { nowMs: ISSUED - DAY }, '1 FROM_THE_FUTURE'],
    ['issued by a clock a minute ahead', { nowMs: ISSUED - 60_000 }, '0'],
  ])('%s', async (_, rules, expected) => expect(await end(honest, rules)).toBe(expected))
})

describe('attack 202: a certificate that is right about a lesser card than the reader was sold', () => {
  const small = () => made({ id: 't4', claim: 'T4' })
  const unclaimed = (devices = 1) => made({ claim: null, devices })

  test('a card that is as claimed, or of which nothing was claimed, is held against what the reader was sold', async () => {
    expect(await end(small())).toBe('0')
    expect(await end(small(), { claim: 'H200 SXM' })).toBe('1')
    expect(await end(small(), { claim: 'Tesla T4' })).toBe('0')
    expect(await end(unclaimed(), { claim: 'H200 SXM' })).toBe('0')
    expect(await end(unclaimed(), { claim: '2x H200 SXM' })).toBe('1')
    expect(await end(unclaimed(2), { claim: '2x H200 SXM' })).toBe('0')
    expect(await end(honest, { claim: 'B200' })).toBe('1')
    expect(await end(made({ claim: 'B200' }), { claim: 'H200 SXM' })).toBe('0')
  })

  test('of version 1 likewise', async () => {
    const old = asVersion1(made({ id: 't4', claim: 'T4', version: 1 }))
    expect(await end(old)).toBe('0')
    expect(await end(old, { claim: 'H200 SXM' })).toBe('1')
  })

  test('what the run left open stays open, and a doubt about the file stays one', async () => {
    const slow = made({ id: 'a100-pcie-80gb', claim: null })
    expect(await end(slow, { claim: 'A100 SXM4 80GB' })).toBe('4 CLAIM_UNPROVEN')
    expect(await end(honest, { claim: 'H200 SXM', nowMs: ISSUED + 31 * DAY })).toBe('4 EXPIRED')
  })

  test('a summary with its file likewise, and the names in it are still those of its signer', async () => {
    const withFull = async (full: string, claim: string) => {
      const rules = { ...readerRules(catalogue), claim }
      return endOf(await checkSummary(fileOf(summaryOf(full)), fileOf(full), rules, async () => null))
    }
    expect(await withFull(unclaimed(), 'H200 SXM')).toBe('0')
    expect(await withFull(small(), 'H200 SXM')).toBe('1')
  })
})

describe('attacks 465 and 466: a file of several devices whose memories were read each on its own', () => {
  const inTurns: Synthetic['replan'] = (plan) =>
    plan.map((part) => (part.kind === 'memories' ? { ...part, kind: 'memory' } : part))
  const old = (claim: string | null) => made({ devices: 2, claim, replan: inTurns })

  test('is what was signed, and says more than it shows by the rules of today', async () => {
    for (const claim of [null, '2x H200 SXM']) expect(await end(old(claim))).toBe('4 RULES_DIFFER')
    expect(await end(old(null), { claim: '2x H200 SXM' })).toBe('4 RULES_DIFFER')
    for (const claim of [null, '2x H200 SXM']) expect(await end(made({ devices: 2, claim }))).toBe('0')
  })

  test('does not leave open what it refutes of what its reader was sold', async () => {
    for (const claim of ['8x H100 SXM', '2x T4', '3x H200 SXM'])
      for (const signed of [null, '2x H200 SXM']) expect(await end(old(signed), { claim })).toBe('1 RULES_DIFFER')
  })
})

test('attack 507: what a validator said of memory by the claim, or by the fastest card, is still its word', async () => {
  const sold = { id: 'h100-sxm', claim: null, asBefore: 506 } as const
  expect(made(sold)).not.toBe(made({ ...sold, asBefore: undefined }))
  for (const claim of [null, 'H100', 'H100 SXM', 'T4'])
    expect(await end(made({ ...sold, claim }), { claim: 'H100 SXM' })).toBe('0')
})

describe('attacks 487 and 488: what both judgements, or the reader, say no to', () => {
  const fewRounds: Synthetic['replan'] = (plan) =>
    plan.map((part) => (part.kind === 'link' ? { ...part, rounds: 7 } : part))
  const inTurns: Synthetic['replan'] = (plan) =>
    plan.map((part) => (part.kind === 'memories' ? { ...part, kind: 'memory' } : part))
  const shorts = (claim: string | null) =>
    asVersion1(made({ devices: 2, version: 1, claim, replan: (plan) => inTurns(fewRounds(plan)) }))

  test('a run that today would be rejected is no way out of what its reader was sold', async () => {
    for (const claim of ['8x H100 SXM', '2x T4']) expect(await end(shorts(null), { claim })).toBe('1 RULES_DIFFER')
    expect(await end(shorts(null), { claim: '2x H200 SXM' })).toBe('4 RULES_DIFFER')
    expect(await end(shorts(null))).toBe('4 RULES_DIFFER')
  })

  test('nor is one that the catalogue of its reader finds undersized', async () => {
    const ids = ['b200', 'b300', 'gb200', 'gb300']
    const older = edited((models) =>
      models
        .filter(({ id }) => !ids.includes(id))
        .map((model) => ({ ...model, twins: model.twins.filter((twin) => !ids.includes(twin)) })),
    )
    const small: Synthetic['replan'] = (plan) =>
      plan.map((part) =>
        part.kind === 'rounds' || part.kind === 'bind'
          ? { ...part, m: part.m / 2, n: part.n / 2, rounds: Math.min(30_000, 4 * part.rounds) }
          : part,
      )
    const text = made({ id: 'b200', catalogue: older, shownBy: catalogue, claim: null, replan: small })
    expect(await end(text)).toBe('4 CATALOGUES_DIFFER')
    for (const claim of ['8x B200', '8x H100 SXM']) expect(await end(text, { claim })).toBe('1 CATALOGUES_DIFFER')
  })

  test('what its signer and its reader both call not as claimed stays that, whatever else differs', async () => {
    const file = made({ devices: 2, claim: '8x B200', replan: inTurns })
    expect(await end(file)).toBe('1 RULES_DIFFER')
    expect(await end(shorts('2x T4'))).toBe('1 RULES_DIFFER')
  })
})

describe('attack 82: a foreign catalogue', () => {
  const weak = (models: Catalogue['models']) => {
    const { rates, bandwidth } = models.find(({ id }) => id === 'rtx-3060-12gb')!
    return models.map((model) => (model.id === 'h200-sxm' ? { ...model, rates, bandwidth, twins: [] } : model))
  }
  const without = (...ids: string[]) => edited((models) => models.filter(({ id }) => !ids.includes(id)))

  test('made up so that a weak card passes for an H200: judged by it as stated, and not established', async () => {
    const foreign = edited((models) => weak(models).filter(({ id }) => id === 'h200-sxm'))
    const text = made({ catalogue: foreign })
    const checked = await check(text)
    expect(checked).toMatchObject({ problem: null, recomputed: true })
    expect(checked.kind === 'certificate' && checked.read.statement.predicate.judgement.claim?.verdict).toBe('matches')
    expect(endOf(checked)).toBe('4 CATALOGUES_DIFFER')
    expect(await end(text, { catalogue: foreign })).toBe('0')
    // Attack 466: by the reader's own catalogue it is not what he was sold.
    expect(await end(text, { claim: 'B200' })).toBe('1 CATALOGUES_DIFFER')
  })

  test('by a made-up hash: not the one that travels', async () => {
    const text = resigned(honest, ({ judgement }) => Object.assign(judgement, { catalogue: '00'.repeat(32) }))
    expect(await end(text)).toBe('1 WRONG_CATALOGUE')
  })

  test('by a made-up hash in version 1, where nothing travels: not established', async () => {
    const slow = asVersion1(made({ version: 1, id: 'rtx-3060-12gb' }))
    const lie = { status: 'identified', model: 'h200-sxm', confidencePercent: 100, twins: [], closest: [] }
    const text = resigned(slow, ({ judgement }) => {
      Object.assign(judgement, {
        catalogue: '00'.repeat(32),
        claim: { text: 'H200 SXM', verdict: 'matches', reasons: [] },
      })
      Object.assign(judgement.devices[0], { identity: lie })
    })
    expect(await end(text)).toBe('4 CATALOGUES_DIFFER')
  })

  test('no edit of our catalogue demotes an honest certificate', async () => {
    const older = without('rtx-5090', 'l4')
    expect(catalogueHash(older)).not.toBe(catalogueHash(catalogue))
    expect(await end(made({ catalogue: older }))).toBe('0')
    const fewer = edited((models) =>
      models
        .filter(({ id }) => id !== 'h200-nvl')
        .map((model) => ({ ...model, twins: model.twins.filter((twin) => twin !== 'h200-nvl') })),
    )
    expect(await end(honest, { catalogue: fewer })).toBe('0')
  })

  test('a card that was unknown when it was verified may be known by now', async () => {
    const older = without('h200-sxm', 'h200-nvl', 'gh200-144gb', 'h100-sxm', 'h100-nvl', 'h100-pcie', 'gh200-96gb')
    const text = made({ catalogue: older, shownBy: catalogue, claim: null })
    const checked = await check(text)
    expect(
      checked.kind === 'certificate' && checked.read.statement.predicate.judgement.devices[0]!.identity.status,
    ).toBe('unknown')
    expect(checked.kind === 'certificate' && checked.ours.devices[0]!.identity.status).toBe('identified')
    expect(endOf(checked)).toBe('0')
  })

  test('one that no longer knows the card leaves it not established, and refuses nothing', async () => {
    const none = without('h200-sxm', 'h200-nvl', 'gh200-144gb')
    expect(await end(honest, { catalogue: none })).toBe('4 CATALOGUES_DIFFER')
  })

  test('is no catalogue at all, or one with a card nobody measured', async () => {
    const gone = resigned(honest, (predicate) => Object.assign(predicate.catalogue, { models: [] }))
    expect(await end(gone)).toBe('1 MALFORMED')
    const text = resigned(honest, ({ catalogue }) =>
      Object.assign(catalogue.models[0], { bandwidth: [], rates: { int8: [] } }),
    )
    expect(await end(text)).toBe('1 WRONG_CATALOGUE')
  })
})

describe('attack 83: a hollow mainnet', () => {
  const leaving = (keep: (part: PlannedPart) => boolean) => (plan: readonly PlannedPart[]) => plan.filter(keep)
  test.each<[string, Partial<Synthetic>]>([
    ['no memory part', { replan: leaving(({ kind }) => kind !== 'memory') }],
    ['no bind part', { replan: leaving(({ kind }) => kind !== 'bind') }],
    ['no fp8', { replan: leaving(({ precision }) => precision !== 'fp8') }],
    [
      'nothing sustained',
      {
        replan: (plan) =>
          plan.filter(
            (part, p) => plan.findIndex((one) => one.precision === part.precision && one.kind === part.kind) === p,
          ),
      },
    ],
    [
      'two devices, one idle in bf16',
      { devices: 2, replan: (plan) => plan.map((part) => (part.precision === 'bf16' ? { ...part, mask: 1 } : part)) },
    ],
    ['two devices, none alone', { devices: 2, replan: leaving(({ mask }) => mask === 3) }],
    [
      'a small bind part',
      {
        replan: (plan) =>
          plan.map((part) =>
            part.kind === 'bind' ? { ...part, m: part.m / 2, n: part.n / 2, rounds: 4 * part.rounds } : part,
          ),
      },
    ],
    [
      'half of the fill',
      {
        replan: (plan) =>
          plan.map((part) => ({
            ...part,
            rounds: 2 * part.rounds,
            kept: part.kept.map((kept) => Math.ceil(kept / 2)),
          })),
      },
    ],
  ])('%s', async (_, given) => expect(await end(made(given))).toBe('1 WRONG_PRESET'))

  test('a part of an instant is no part', async () => {
    const text = made({ replan: (plan) => plan.map((part, p) => (p === 0 ? { ...part, rounds: 8 } : part)) })
    expect(await end(text)).toBe('1 RUN_REJECTED')
  })

  test('two devices with every part, for comparison', async () => {
    expect(await end(made({ devices: 2, claim: '2x H200 SXM' }))).toBe('0')
  })
})

describe('attack 84: an expired, revoked or lone signer, times out of reason', () => {
  const key = toHex(VALIDATOR.publicKey)
  const since = (ms: number) => new Date(ms).toISOString()
  const revoked = (ms: number) => [{ key, status: 'revoked' as const, since: since(ms) }]
  const rotated = (ms: number, successor = toHex(testSigner(9).publicKey)) => [
    { key, status: 'rotated' as const, since: since(ms), successor },
  ]

  test.each<[string, Partial<ReaderRules>, string]>([
    ['past its validity', { nowMs: ISSUED + 31 * DAY }, '4 EXPIRED'],
    ['past its validity, and older than was asked', { nowMs: ISSUED + 31 * DAY, maxAgeSeconds: 86_400 }, '1 TOO_OLD'],
    ['revoked before the issue', { revocations: revoked(ISSUED - DAY) }, '1 SIGNER_REVOKED'],
    [
      'revoked after the issue, which may be backdated',
      { revocations: revoked(ISSUED + DAY) },
      '4 SIGNER_REVOKED_SINCE',
    ],
    ['replaced before the issue', { revocations: rotated(ISSUED - DAY) }, '1 SIGNER_REVOKED'],
    ['replaced after the issue', { revocations: rotated(ISSUED + DAY) }, '0'],
    ['one signer where two are asked for', { threshold: 2 }, '1 TOO_FEW_SIGNERS'],
  ])('%s', async (_, rules, expected) => expect(await end(honest, rules)).toBe(expected))

  const watched = () => resigned(honest, () => {}, VALIDATOR, testSigner(9))
  test.each<[string, Partial<ReaderRules>, string]>([
    ['two signers, one trusted', { threshold: 2 }, '1 TOO_FEW_SIGNERS'],
    [
      'two signers, both trusted',
      { threshold: 2, trusted: [VALIDATOR, testSigner(9)].map((one) => one.publicKey) },
      '0',
    ],
    ['two signers, the watcher trusted alone', { trusted: [testSigner(9).publicKey] }, '0'],
    [
      'a key and its successor, who are one signer',
      {
        ...{ threshold: 2, revocations: rotated(ISSUED + DAY) },
        trusted: [VALIDATOR, testSigner(9)].map((one) => one.publicKey),
      },
      '1 TOO_FEW_SIGNERS',
    ],
    ['two signers, the trusted one revoked', { revocations: revoked(ISSUED - DAY) }, '1 SIGNER_REVOKED'],
  ])('%s', async (_, rules, expected) => expect(await end(watched(), rules)).toBe(expected))

  test.each([
    [365, '0'],
    [367, '4 EXPIRED'],
    [3660, '4 EXPIRED'],
  ])('attack 474: one of version 1, which names no end, after %i days: %s', async (days, expected) =>
    expect(await end(asVersion1(made({ version: 1 })), { nowMs: ISSUED + days * DAY })).toBe(expected),
  )

  test('a second signature is refused in version 1, and one without the validator in any', async () => {
    const text = made({ version: 1 })
    expect(await end(asVersion1(text))).toBe('0')
    expect(await end(resigned(asVersion1(text), () => {}, VALIDATOR, testSigner(9)))).toBe('1 NOT_CANONICAL')
    const rules = { trusted: [testSigner(9).publicKey] }
    expect(
      await end(
        resigned(honest, () => {}, testSigner(9)),
        rules,
      ),
    ).toBe('1 WRONG_SUBJECT')
  })

  test.each<[string, Record<string, string>]>([
    ['started after it was issued', { startedAt: '2026-01-01T00:00:01.000Z' }],
    ['started a month before', { startedAt: '2025-12-01T00:00:00.000Z' }],
    ['shorter than its own parts', { startedAt: '2025-12-31T23:59:59.000Z' }],
    ['over before it was issued', { notAfter: '2025-12-31T00:00:00.000Z' }],
    ['valid for ten years', { notAfter: '2036-01-01T00:00:00.000Z' }],
  ])('%s', async (_, times) => {
    expect(await end(resigned(honest, (predicate) => Object.assign(predicate, times)))).toBe('1 WRONG_TIMES')
  })
})

describe('attack 85: a summary that does not belong to its file', () => {
  const withFull = async (summary: string, full = honest, rules: Partial<ReaderRules> = {}) =>
    endOf(
      await checkSummary(fileOf(summary), fileOf(full), { ...readerRules(catalogue), ...rules }, async () => null),
    ) || '0'

  test('alone it is the word of its signer, with its certificate it is checked', async () => {
    const summary = summaryOf(honest)
    expect(summary.length).toBeLessThanOrEqual(MAX_SUMMARY_BYTES)
    expect(await end(summary)).toBe('4 SUMMARY_ALONE')
    expect(await end(summary, { nowMs: ISSUED + 31 * DAY })).toBe('4 EXPIRED SUMMARY_ALONE')
    expect(await end(summary, { prover: testSigner(8).publicKey })).toBe('1 WRONG_PROVER')
    expect(await withFull(summary)).toBe('0')
    expect(await withFull(summary, honest, { threshold: 2 })).toBe('1 TOO_FEW_SIGNERS')
  })

  test('says what a buyer knows', async () => {
    const { predicate } = JSON.parse(new TextDecoder().decode(fromBase64(JSON.parse(summaryOf(honest)).payload)!))
    expect(predicate).toMatchObject({
      outcome: 'accepted',
      claim: { text: 'H200 SXM', verdict: 'matches' },
      models: [{ name: 'H200 SXM', count: 1 }],
      count: { claimed: 1 },
      memory: { status: 'proven' },
      signer: toHex(VALIDATOR.publicKey),
    })
  })

  test.each<[string, (predicate: { [key: string]: unknown }) => void]>([
    ['another model', (predicate) => Object.assign(predicate, { models: [{ name: 'B200', count: 1 }] })],
    ['more cards', (predicate) => Object.assign(predicate.count as object, { claimed: 8 })],
    ['a higher rate', ({ rates }) => Object.assign(rates as object, { int8: 9e15 })],
    ['more memory', ({ memory }) => Object.assign(memory as object, { heldBytes: 2 ** 40 })],
    ['another verdict', ({ claim }) => Object.assign(claim as object, { verdict: 'weaker' })],
    ['a longer validity', (predicate) => Object.assign(predicate, { notAfter: '2026-12-31T00:00:00.000Z' })],
    ['a later issue', (predicate) => Object.assign(predicate, { issuedAt: '2026-01-01T12:00:00.000Z' })],
    ['another run', (predicate) => Object.assign(predicate, { runId: '00'.repeat(16) })],
  ])('%s', async (_, change) => {
    expect(await withFull(resigned(summaryOf(honest), change))).toBe('1 SUMMARY_DIFFERS')
  })

  test('of another file, of a file that does not hold, or the files exchanged', async () => {
    const other = made({ issuedMs: ISSUED + 1 })
    expect(await withFull(summaryOf(honest), other)).toBe('1 OTHER_FILE')
    expect(await withFull(honest, summaryOf(honest))).toBe('1 NOT_A_SUMMARY')
    const broken = resigned(honest, ({ figures }) => Object.assign(figures[0], { perSecond: 1 }))
    expect(await withFull(summaryOf(honest), broken)).toBe('1 WRONG_FIGURES')
  })

  test('signed by somebody who only listed it', async () => {
    const both = { trusted: [VALIDATOR, testSigner(9)].map(({ publicKey }) => publicKey) }
    const listed = resigned(summaryOf(honest), () => {}, testSigner(9))
    expect(await end(listed, both)).toBe('1 WRONG_SUBJECT')
    expect(await withFull(summaryOf(honest, testSigner(9)), honest, both)).toBe('1 SUMMARY_DIFFERS')
  })

  test('the largest there can be has room in 4 KB, and nothing larger is read', async () => {
    const filled = resigned(summaryOf(honest), (predicate) => {
      const text = 'x'.repeat(120)
      const rates = Object.fromEntries(PRECISION_NAMES.map((name) => [name, Number.MAX_SAFE_INTEGER]))
      const models = Array.from({ length: 9 }, () => ({ name: text, count: 32 }))
      Object.assign(predicate, {
        program: text,
        models,
        rates,
        score: 1_000_000,
        claim: { text, verdict: 'undersized run' },
      })
    })
    expect(filled.length).toBeLessThanOrEqual(MAX_SUMMARY_BYTES)
    expect(await end(filled)).toBe('1 SUMMARY_ALONE')
    expect(await end(resigned(filled, () => {}, VALIDATOR, ...[2, 3, 4, 5, 6].map(testSigner)))).toBe('1 TOO_LARGE')
  })
})

describe('what an older reader may pass over', () => {
  test.each<[object, string]>([
    [{ 'x-site': { name: 'north' } }, '0'],
    [{ 'x-address': 'ssh://203.0.113.7:22' }, '0'],
    [{ 'x-address': { host: 'anything' } }, '0'],
    [{ 'x-devices': 'cpu' }, '0'],
    [{ 'must-hold': 1 }, '1 UNKNOWN_EXTENSION'],
    [{ site: 1 }, '1 MALFORMED'],
    [{ 'x-site': '\u001b[2J' }, '1 MALFORMED'],
    [Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`x-${i}`, i])), '1 MALFORMED'],
  ])('extensions %j: %s', async (extensions, expected) => {
    expect(await end(resigned(honest, (predicate) => Object.assign(predicate, { extensions })))).toBe(expected)
  })

  test('a field anywhere else is refused', async () => {
    expect(await end(resigned(honest, (predicate) => Object.assign(predicate, { 'x-site': 1 })))).toBe('1 MALFORMED')
    expect(await end(sealEnvelope(new TextEncoder().encode('{"predicateType":"urn:other:1"}'), VALIDATOR))).toBe(
      '1 OTHER_VERSION',
    )
  })

  test('an anchor whose blocks do not make the seeds is refused', async () => {
    const anchor = (predicate: { [key: string]: unknown }) => {
      const parts = (predicate.parts as unknown[]).map(() => ({
        height: 1,
        block: '00'.repeat(32),
        random: '11'.repeat(32),
      }))
      Object.assign(predicate, { anchor: { chain: 'test', parts } })
    }
    expect(await end(resigned(honest, anchor))).toBe('1 WRONG_ANCHOR')
  })
})
