import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { createCheck } from '../src/apps/check/createCheck.ts'
import { toHex } from '../src/core/bytes/hex.ts'
import { expectedBandwidth, expectedRate } from '../src/core/identify/expected.ts'
import { requiredClass } from '../src/core/identify/undersizedParts.ts'
import { PRECISION_NAMES } from '../src/core/params/precision.ts'
import * as attest from '../src/exports/attest.ts'
import * as certificate from '../src/exports/certificate.ts'
import * as engine from '../src/exports/engine.ts'
import * as identify from '../src/exports/identify.ts'
import * as touchstone from '../src/exports/index.ts'
import * as proof from '../src/exports/proof.ts'
import * as score from '../src/exports/score.ts'
import { modelOf, shippedCatalogue } from './sim/shippedCatalogue.ts'
import { honestCertificate } from './support/honestCertificate.ts'
import { fileOf, readerRules } from './support/problemOf.ts'
import { VALIDATOR } from './support/verifyInProcess.ts'

/**
 * Attack 445: whoever writes in plain JavaScript may hand in anything, and what is compared with no number is never too
 * small. Every export that a yes, a score or a share of checked openings depends on is called once as it should be, and
 * once for each value that is not of the documented form; the others say why nothing is asked of them.
 */

/** Paths into the arguments of a call, with what must not stand there. */
type Wrong = Readonly<Record<string, readonly unknown[]>>

interface Door {
  /** Arguments with which the answer is yes, or a figure. */
  readonly right: readonly unknown[]
  readonly says?: (answer: unknown) => void
  readonly wrong: Wrong
  /** Where it is not what others of its module throw. */
  readonly throws?: readonly string[]
}

const NO_NUMBER = [Number.NaN, Number.POSITIVE_INFINITY, '1', 'x', null, true, [], {}]
const NO_AMOUNT = [...NO_NUMBER, -1]
const NO_WHOLE = [...NO_AMOUNT, 1.5]
const NO_SHARE = [...NO_AMOUNT, 100]
const NO_LIST = [null, 'x', 1, {}]
const NO_OBJECT = [null, undefined, 'x', Number.NaN]
const NO_WORD = ['', 'X', null, 1, {}]
const NO_BYTES = [null, '', 'x'.repeat(32), [], new Uint8Array(31)]
/** For a field that has no name. */
const UNKNOWN = ['x']

/** The same arguments with another value in one place. */
function withAt(base: unknown, [first, ...rest]: readonly string[], value: unknown): unknown {
  if (first === undefined) return value
  const inner = withAt((base as Record<string, unknown> | undefined)?.[first], rest, value)
  if (!Array.isArray(base)) return { ...(base as object), [first]: inner }
  return Object.assign([...base], { [first]: inner })
}

const below = (path: string, wrong: Wrong): Wrong =>
  Object.fromEntries(Object.entries(wrong).map(([inner, values]) => [`${path}.${inner}`, values]))

/** Wherever a catalogue is handed in. */
const NO_CATALOGUE: Wrong = {
  rules: NO_OBJECT,
  'rules.rate.measured.low': NO_AMOUNT,
  models: [...NO_LIST, []],
  'models.0.memoryBytes': NO_AMOUNT,
  'models.0.bandwidth.0.value': NO_AMOUNT,
  'models.0.rates': NO_OBJECT,
  'models.0.twins': [...NO_LIST, ['x']],
  'models.0.unknown': UNKNOWN,
}

const NO_MEASUREMENT: Wrong = {
  kind: [...NO_WORD, 'CPU'],
  rates: NO_LIST.slice(0, 3),
  'rates.int8': NO_AMOUNT,
  'rates.INT8': [1],
  declined: [...NO_LIST, ['INT8']],
  memoryBytes: NO_AMOUNT,
  bandwidth: NO_AMOUNT,
  bindRate: NO_AMOUNT,
  'classes.int8': [...NO_WHOLE, 0, 1000, 65_536],
  sustainedShare: NO_SHARE,
  scaling: NO_SHARE,
  sustained_share: [0.1],
}

const NO_RUN: Wrong = {
  '0.parts': [...NO_LIST, []],
  '0.parts.0.s': NO_BYTES,
  // Attack 452: a nonce that was not committed to draws what its maker likes, and Z_0 has a clock of its own.
  '0.parts.0.nonce': [...NO_BYTES, new Uint8Array(32).fill(7)],
  '0.parts.0.z': [new Uint8Array(32)],
  '0.parts.0.zSentUs': [...NO_NUMBER.filter((value) => value !== null), 1],
  '0.parts.0.devices': NO_LIST,
  '0.parts.0.devices.0.device': NO_WHOLE,
  '0.parts.0.devices.0.roots.0': NO_BYTES,
  '0.parts.0.devices.0.arrivalsUs.0': [...NO_NUMBER, 0.5],
  '0.parts.0.devices.0.openings': [null, undefined, 'x', []],
  '0.challenge': NO_OBJECT,
  '0.challenge.version': [0, 3, '2', null],
  '0.challenge.deviceCount': [...NO_WHOLE, 0, 33],
  '0.challenge.parts': NO_LIST,
  '0.challenge.parts.0.openings': [...NO_WHOLE, 0, 2 ** 32 + 8],
  '0.challenge.parts.0.rounds': [...NO_WHOLE, 0],
  '0.challenge.parts.0.limitMs': [...NO_WHOLE, 0],
  '0.challenge.parts.0.mask': [...NO_WHOLE, 0, 2],
  '0.challenge.parts.0.kind': NO_WORD,
  '0.challenge.parts.0.precision': NO_WORD,
  '0.challenge.parts.0.unknown': UNKNOWN,
}

const NO_RANGE: Wrong = {
  part: [...NO_WHOLE, undefined],
  device: [...NO_WHOLE, undefined],
  from: [...NO_WHOLE, undefined, 8],
  to: [...NO_WHOLE, undefined, 0],
}

const NO_GPU: Wrong = {
  count: [...NO_WHOLE, undefined],
  model: [null, 1, {}],
  rates: NO_LIST.slice(0, 3),
  'rates.bf16': NO_AMOUNT,
  'rates.BF16': [1],
  'sustained.bf16': NO_AMOUNT,
  memoryBytes: NO_AMOUNT,
  bandwidth: NO_AMOUNT,
  scaling: NO_SHARE,
  unknown: UNKNOWN,
}

const NO_HOST: Wrong = {
  'ramBytes.value': [...NO_AMOUNT, undefined],
  'ramBytes.source': [...NO_WORD, 'inferred', undefined],
  ramBytes: [null, 1, 'x'],
  RAM: [{ source: 'proven', value: 1 }],
}

const NO_CONFIG: Wrong = {
  mode: [...NO_WORD, undefined],
  'weights.gpu': [...NO_AMOUNT, undefined, 2],
  'gpu.rates': [...NO_AMOUNT, undefined, 2],
  'precisions.bf16': [...NO_AMOUNT, undefined, 2],
  'reference.rates.bf16': [...NO_AMOUNT, undefined],
  'reference.memoryBytes': [...NO_AMOUNT, undefined],
  'limits.ramBytes': [...NO_AMOUNT, undefined],
  unsustainedShare: [...NO_SHARE, undefined],
  'tiers.C': [...NO_SHARE, undefined],
  registrationBonus: [...NO_AMOUNT, undefined],
  'decay.freshMs': [...NO_AMOUNT, undefined],
  'decay.halfLifeMs': [...NO_AMOUNT, undefined, 0],
  'normalize.count': [...NO_AMOUNT, undefined],
  'normalize.scores.h200-sxm': NO_AMOUNT,
  unknown: UNKNOWN,
}

const NO_RULE: Wrong = {
  nowMs: [...NO_NUMBER, undefined],
  threshold: [...NO_WHOLE, undefined, 0],
  maxAgeSeconds: [...NO_AMOUNT.filter((value) => value !== null), undefined],
  claim: [null, 1, {}],
  trusted: [...NO_LIST, ['x'.repeat(32)], [null]],
  required: [...NO_LIST, undefined, ['x'.repeat(32)]],
  prover: [undefined, '', 'x'.repeat(32), new Uint8Array(31)],
  revocations: [...NO_LIST, undefined, ['x']],
  kinds: [null, 'x'],
  attestation: [null, 'x'],
  checkSignature: [null, true],
  maxAge: [1],
  ...below('catalogue', NO_CATALOGUE),
}

/** Of `touchstone` and of the page alike. */
const NO_OPTION: Wrong = {
  '0': [null, undefined, 1],
  '1': [null, undefined],
  '1.trust': [null, 'x', 1, ['x'], [null], [1]],
  '1.requireSigners': [null, 'x', ['x']],
  '1.leastSigners': [...NO_AMOUNT, 0],
  '1.prover': [null, '', 'x', 1],
  '1.claim': [null, '', 'x', 1],
  '1.maxAgeSeconds': NO_AMOUNT,
  '1.revocations': [...NO_LIST, ['x']],
  '1.nowMs': NO_AMOUNT,
  '1.threads': [...NO_AMOUNT, 0],
  '1.full': [1, {}],
  '1.maxAge': [1],
  ...below('1.catalogue', NO_CATALOGUE),
  '1.catalogue': [null, {}, 'x'],
}

const ONLY_WORDS = 'words for people: nobody compares them'
const DATA = 'data of this release'
const MARK = 'says where a value comes from, for the compiler alone; whoever counts the value looks at it'

async function doors(): Promise<Readonly<Record<string, Readonly<Record<string, Door | string>>>>> {
  const catalogue = await shippedCatalogue()
  const { certificate: text, nowMs } = await honestCertificate()
  const trusted = [VALIDATOR.publicKey]
  const read = certificate.readCertificate(text, () => true)
  if (!('run' in read)) throw new Error('the certificate of an honest run was not read')
  const { run } = read
  const model = modelOf(catalogue, 'h200-sxm')
  const rates = Object.fromEntries(
    PRECISION_NAMES.flatMap((name) => {
      const expected = expectedRate(model, name, catalogue.rules)
      return expected ? [[name, expected.centre]] : []
    }),
  )
  const measured = {
    rates,
    classes: { int8: requiredClass(model, 'int8', catalogue.rules) },
    memoryBytes: 0.95 * model.memoryBytes,
    bandwidth: expectedBandwidth(model, catalogue.rules)!.centre,
    bindRate: 0.5 * rates.int8!,
    sustainedShare: 1,
    scaling: 1,
  }
  const claim = { count: 1, card: 'H200', models: [model] }
  const config = score.defaultScoreConfig(catalogue)
  const gpu = { count: 1, rates: { bf16: 1e15 }, memoryBytes: 141e9 }
  const host = { ramBytes: score.fact('claimed', 1e12) }
  const box = { outcome: 'passed', gpu, host, tier: 'C', ageMs: 0 }
  const rules = { ...readerRules(catalogue), trusted, nowMs }
  const options = { trust: trusted.map(toHex), nowMs, threads: 1, catalogue }
  const isYes = (answer: unknown) => expect(answer).toBeNull()
  const range = { part: 0, device: 0, from: 0, to: 8 }
  const wasm = readFileSync(new URL('../kernels/built/engine.wasm', import.meta.url))
  const checkOpenings = () => null
  const accepted = (answer: unknown) => expect(answer).toMatchObject({ kind: 'certificate', problem: null })
  const genuine = (answer: unknown) => expect(answer).toMatchObject({ verdict: 'genuine' })
  const device = {
    rates: { bf16: 1e15 },
    sustained: { precision: 'bf16', perSecond: 1e15 },
    memory: { heldBytes: 1e11, perSecond: 1e12, status: 'proven' },
    identity: { status: 'identified', cards: ['h200-sxm'] },
  }
  const summary = certificate.issueSummary(read, text, VALIDATOR)!
  return {
    attest: {
      ATTEST_DOUBTS: DATA,
      NVIDIA_POLICY: DATA,
      REFUSALS: DATA,
      policySchema: 'a schema refuses by itself; attestationReader asks it',
      writeBundle: 'what it writes is judged by whoever reads it',
      attestationReader: {
        right: [
          { policy: attest.NVIDIA_POLICY, check: () => true, nonce: null, atMs: nowMs, devices: 1, rims: [], ocsp: [] },
        ],
        wrong: below('0', {
          policy: NO_OBJECT,
          'policy.clockSkewSeconds': NO_WHOLE,
          'policy.ocsp': NO_WORD,
          'policy.unknown': UNKNOWN,
          check: [null, undefined, true],
          nonce: [...NO_BYTES.filter((value) => value !== null), undefined],
          atMs: [...NO_NUMBER.filter((value) => value !== null), undefined],
          devices: [...NO_WHOLE.filter((value) => value !== null), 0],
          rims: [...NO_LIST, undefined, ['x']],
          ocsp: [...NO_LIST, undefined, ['x']],
          crl: ['x', 1],
          collateral: [null, 'x', { a: 1 }],
          device: [1],
        }),
      },
    },
    browser: {
      checkCertificate: {
        right: [text, options],
        says: (answer) => expect(answer).toBe('certificate'),
        wrong: NO_OPTION,
      },
    },
    certificate: {
      DOUBTS: DATA,
      MAX_CERTIFICATE_BYTES: DATA,
      MAX_SUMMARY_BYTES: DATA,
      PROBLEMS: DATA,
      checkCertificate: {
        right: [fileOf(text), rules, checkOpenings],
        says: accepted,
        wrong: {
          ...below('1', NO_RULE),
          '0': [null, undefined, 1],
          '1': NO_OBJECT,
          '2': [null, undefined, () => undefined, () => true, () => 'x', async () => false],
        },
      },
      checkSummary: {
        right: [fileOf(summary), fileOf(text), rules, checkOpenings],
        wrong: {
          ...below('2', NO_RULE),
          '0': [null, undefined, 1],
          '1': [null, undefined, 1],
          '2': NO_OBJECT,
          '3': [null, undefined, () => undefined, () => true],
        },
      },
      issueSummary: {
        right: [read, text, VALIDATOR, 1000],
        wrong: { '0': NO_OBJECT, '2': NO_OBJECT, '3': [...NO_WHOLE, 1_000_001] },
      },
      readCertificate: {
        right: [text, () => true],
        wrong: { '0': [null, undefined, 1], '1': [null, undefined, true] },
      },
      readEvidence: { right: [text, () => true], wrong: { '0': [null, undefined, 1], '1': [null, undefined, true] } },
    },
    engine: {
      createEngine: {
        right: [wasm],
        throws: ['TypeError', 'CompileError'],
        wrong: { '0': [null, undefined, '', 'x', [], new Uint8Array(8)] },
      },
    },
    identify: {
      CLAIM_CODES: DATA,
      explainClaim: ONLY_WORDS,
      countCards: {
        right: [[measured, measured], catalogue, 2, false],
        wrong: {
          '0': NO_LIST,
          '0.0.rates.int8': NO_AMOUNT,
          '0.0.rates.INT8': [1],
          '0.0.memoryBytes': NO_AMOUNT,
          ...below('1', NO_CATALOGUE),
          '2': [0, 3, '2', null, Number.NaN],
          '3': ['x', 1, null],
        },
      },
      identifyGpu: {
        right: [measured, catalogue],
        says: (answer) => expect(answer).toMatchObject({ status: 'identified', model }),
        wrong: { ...below('0', NO_MEASUREMENT), ...below('1', NO_CATALOGUE), '0': NO_OBJECT, '1': NO_OBJECT },
      },
      judgeClaim: {
        right: [{ claim, devices: [measured], catalogue, rules: 2 }],
        says: (answer) => expect(answer).toMatchObject({ verdict: 'matches' }),
        wrong: {
          ...below('0.devices.0', NO_MEASUREMENT),
          ...below('0.catalogue', NO_CATALOGUE),
          ...below('0', {
            devices: NO_LIST,
            claim: NO_OBJECT,
            'claim.count': [...NO_WHOLE, undefined, 0, 33, '8'],
            'claim.models': [...NO_LIST, undefined, []],
            'claim.models.0.memoryBytes': [...NO_AMOUNT, 1],
            'claim.models.0.id': ['x', null],
            'claim.unknown': UNKNOWN,
            rules: [0, 3, '2', null, undefined, Number.NaN],
            identities: [[]],
          }),
        },
      },
      parseCatalogue: {
        right: [JSON.parse(JSON.stringify(fileOfCatalogue(catalogue)))],
        throws: ['CatalogueError'],
        wrong: {
          '0': NO_OBJECT,
          '0.models.0.memory.bytes': NO_AMOUNT,
          '0.rules.rate.measured.low': NO_AMOUNT,
          '0.unknown': UNKNOWN,
        },
      },
      parseClaim: {
        right: ['8x H200', catalogue],
        throws: ['TypeError'],
        says: (answer) => expect(answer).toMatchObject({ ok: true }),
        wrong: { '0': [null, undefined, 8, {}], '1': NO_OBJECT },
      },
    },
    proof: {
      PRECISIONS: DATA,
      PRESETS: DATA,
      REASONS: DATA,
      explainReason: ONLY_WORDS,
      referenceEngine: 'computes tiles: one of another request leads to no root',
      challengeHash: 'a hash of bytes: of others it is another',
      decodeChallenge: {
        right: [proof.encodeChallenge(run.challenge)],
        throws: ['TypeError', 'DecodeError'],
        wrong: { '0': [null, undefined, 'x', [], new Uint8Array(8)] },
      },
      encodeChallenge: {
        right: [run.challenge],
        wrong: Object.fromEntries(
          Object.entries(NO_RUN).flatMap(([path, values]) =>
            path.startsWith('0.challenge') ? [[path.replace('0.challenge', '0'), values]] : [],
          ),
        ),
      },
      figuresOf: { right: [run], wrong: { ...NO_RUN, '0.parts.0.devices.0.arrivalsUs.0': [...NO_NUMBER, -1, 1e12] } },
      openingRanges: {
        right: [run],
        says: (answer) => expect((answer as unknown[]).length).toBeGreaterThan(0),
        wrong: NO_RUN,
      },
      sampleRanges: {
        right: [[range], 4, () => 0],
        throws: ['RangeError', 'TypeError'],
        says: (answer) => expect(answer).toHaveLength(4),
        wrong: {
          '0': NO_LIST,
          ...below('0.0', { ...NO_RANGE, to: [...NO_WHOLE, undefined, 0] }),
          '1': [...NO_WHOLE, undefined, 0],
          '2': [null, undefined, () => undefined, ...[Number.NaN, '0', -1, 8, 0.5].map((drawn) => () => drawn)],
        },
      },
      verifyAllOpenings: {
        right: [run, proof.referenceEngine],
        says: isYes,
        throws: ['RangeError', 'TypeError'],
        wrong: { ...NO_RUN, '1': [null, {}] },
      },
      verifyOpenings: {
        right: [run, range, proof.referenceEngine],
        throws: ['RangeError', 'TypeError'],
        says: isYes,
        wrong: {
          ...NO_RUN,
          ...below('1', { ...NO_RANGE, to: [...NO_RANGE.to!, 9], device: [...NO_RANGE.device!, 1] }),
          '1.part': [...NO_RANGE.part!, 64],
          '2': [null, undefined, {}],
        },
      },
      verifyRoots: { right: [run, 0], says: isYes, wrong: { ...NO_RUN, '1': [...NO_WHOLE, undefined, 64] } },
    },
    score: {
      FULL_SCORE: DATA,
      ScoreConfigError: 'an error',
      claimed: MARK,
      fact: MARK,
      inferred: MARK,
      measured: MARK,
      proven: MARK,
      checkRequirements: {
        right: [
          { gpu, host },
          { gpuCount: 1, models: [] },
        ],
        says: (answer) => expect(answer).toEqual([]),
        wrong: {
          ...below('0.gpu', NO_GPU),
          ...below('0.host', NO_HOST),
          '0': NO_OBJECT,
          '1': NO_OBJECT,
          '1.gpuMemoryBytes': [...NO_AMOUNT, 0],
          '1.gpuCount': [...NO_WHOLE, 0],
          '1.models': [...NO_LIST, [1]],
          '1.gpuMemory': [1],
        },
      },
      defaultScoreConfig: { right: [catalogue], wrong: { ...below('0', NO_CATALOGUE), '0': NO_OBJECT } },
      gpuTotals: {
        right: [[device], 1000],
        says: (answer) => expect(answer).toMatchObject({ count: 1, scaling: 1 }),
        wrong: {
          '0': [...NO_LIST, undefined],
          ...below('0.0', {
            rates: NO_OBJECT,
            'rates.bf16': NO_AMOUNT,
            'rates.BF16': [1],
            sustained: ['x', undefined],
            'sustained.perSecond': NO_AMOUNT,
            'sustained.precision': NO_WORD,
            'memory.heldBytes': NO_AMOUNT,
            'memory.status': NO_WORD,
            'identity.status': [...NO_WORD, 'CPU', undefined],
          }),
          '1': [...NO_WHOLE.filter((value) => value !== null), undefined, 1001],
        },
      },
      readScoreConfig: {
        right: [{}, config],
        throws: ['RangeError', 'ScoreConfigError'],
        wrong: {
          '0': NO_OBJECT,
          '0.weights': [{ gpu: 2 }, { gpu: Number.NaN }],
          '0.unknown': UNKNOWN,
          ...below('1', NO_CONFIG),
        },
      },
      scoreBox: {
        right: [box, config],
        says: (answer) => expect((answer as { score: number }).score).toBeGreaterThan(0),
        wrong: {
          ...below('0.gpu', NO_GPU),
          ...below('0.host', NO_HOST),
          ...below('0', {
            outcome: [...NO_WORD, 'rejected', 'busy', 'Passed', undefined],
            gpu: [undefined, 'x', []],
            tier: [...NO_WORD, 'Z', 'a'],
            registered: [1, 'yes', null],
            allocated: [1, 'yes', null],
            ageMs: [...NO_AMOUNT, undefined],
            unknown: UNKNOWN,
          }),
          ...below('1', NO_CONFIG),
          '0': NO_OBJECT,
          '1': NO_OBJECT,
        },
      },
      shareAtAge: {
        right: [0, config.decay],
        throws: ['RangeError', 'TypeError'],
        says: (answer) => expect(answer).toBe(1),
        wrong: {
          '0': [...NO_AMOUNT, undefined],
          '1': NO_OBJECT,
          '1.freshMs': [...NO_AMOUNT, undefined],
          '1.halfLifeMs': [...NO_AMOUNT, undefined, 0],
        },
      },
    },
    touchstone: { checkCertificate: { right: [text, options], says: genuine, wrong: NO_OPTION } },
  }
}

/** As it stands in a file. */
const fileOfCatalogue = ({ models, ...rest }: Awaited<ReturnType<typeof shippedCatalogue>>) => ({
  ...rest,
  models: models.map(({ memoryBytes, memorySource, ...model }) => ({
    ...model,
    memory: { bytes: memoryBytes, source: memorySource },
  })),
})

/** The page's bundle is made of this, with a kernel that the bundler puts in. */
const browser = {
  checkCertificate: createCheck(
    {
      catalogue: shippedCatalogue,
      openChecker: async () => ({ check: async () => null, close: async () => {} }),
      nowMs: () => 0,
    },
    ({ checked }) => checked.kind,
  ),
}
const modules = { attest, browser, certificate, engine, identify, proof, score, touchstone }
const names = (module: object) => Object.keys(module).sort()

describe('the doors of the library', () => {
  let table: Awaited<ReturnType<typeof doors>>
  beforeAll(async () => {
    table = await doors()
  })

  test('attack 445: every export has its row', () => {
    for (const [path, module] of Object.entries(modules)) expect(names(table[path]!)).toEqual(names(module))
    const page = readFileSync(new URL('../src/exports/browser.ts', import.meta.url), 'utf8')
    expect([...page.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name)).toEqual(names(browser))
  })

  test.each(Object.entries(modules))(
    'attack 445: %s takes nothing that is not of the documented form',
    async (path, module) => {
      const wrong: string[] = []
      for (const [name, door] of Object.entries(table[path]!)) {
        if (typeof door === 'string') continue
        const call = (module as unknown as Record<string, (...args: unknown[]) => unknown>)[name]!
        door.says?.(await call(...door.right))
        const refusals = door.throws ?? THROWS[path] ?? ['RangeError']
        for (const [place, values] of Object.entries(door.wrong))
          for (const value of values) {
            const how = await endOf(call, withAt(door.right, place.split('.'), value) as unknown[])
            if (!refusals.includes(how)) wrong.push(`${name}, ${place} = ${shown(value)}: ${how}`)
          }
      }
      expect(wrong).toEqual([])
    },
  )

  test('attack 452: openings that roots which nobody asked for have drawn are refused for the roots', () => {
    const [run, range, engine] = (table.proof!.verifyOpenings as Door).right as Parameters<typeof proof.verifyOpenings>
    const [part] = run.parts
    const [device] = part!.devices
    const root = new Uint8Array(32)
    const surplus = [
      [{ ...device!, roots: [...device!.roots, root], arrivalsUs: [...device!.arrivalsUs, 1e6] }],
      [device!, { ...device!, roots: [root], arrivalsUs: [1], openings: new Uint8Array() }],
    ]
    for (const devices of surplus) {
      const ground = { ...run, parts: [{ ...part!, devices }] }
      for (const reason of [proof.verifyAllOpenings(ground, engine), proof.verifyOpenings(ground, range, engine)])
        expect(['UNEXPECTED_ROOT', 'MISSING_ROOT']).toContain(reason?.code)
    }
  })
})

/** Rules of a reader are refused as options are. */
const THROWS: Readonly<Record<string, readonly string[]>> = {
  browser: ['TypeError'],
  certificate: ['TypeError', 'RangeError'],
  touchstone: ['TypeError'],
}

async function endOf(call: (...args: unknown[]) => unknown, args: readonly unknown[]): Promise<string> {
  try {
    await call(...args)
    return 'taken'
  } catch (error) {
    return error instanceof Error ? error.name : 'no error'
  }
}

const shown = (value: unknown): string =>
  typeof value === 'number' || value === undefined ? String(value) : (JSON.stringify(value) ?? 'a function')
