import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { buyerName } from '../../src/core/identify/buyerName.ts'
import { type Catalogue, catalogueHash, type GpuModel } from '../../src/core/identify/catalogue.ts'
import { CLAIM_CODES, type ClaimCode } from '../../src/core/identify/claimReasons.ts'
import { identifyByRates, isOwnMemory } from '../../src/core/identify/identifyByRates.ts'
import { type GpuIdentity, identifyGpu } from '../../src/core/identify/identifyGpu.ts'
import { judgeClaim } from '../../src/core/identify/judgeClaim.ts'
import { cleanMeasured, type MeasuredGpu } from '../../src/core/identify/measured.ts'
import { suppliedByFewer, suppliedPerSecond, suppliers } from '../../src/core/identify/supplied.ts'
import { requiredClass } from '../../src/core/identify/undersizedParts.ts'
import { PRECISION_NAMES, type Precision } from '../../src/core/params/precision.ts'
import { proven } from '../../src/core/params/provenance.ts'
import {
  honestRun,
  inventCard,
  mixCards,
  type Noise,
  seededUniform,
  sigma10Percent,
  simulateCard,
  type Uniform,
  within10Percent,
} from '../sim/gpuMeasurements.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { skipWith } from '../support/skipWith.ts'

const CASES = 2000

interface Case {
  readonly devices: readonly MeasuredGpu[]
  readonly claimed: readonly string[]
  readonly count: number
  readonly passes: { readonly elapsedUs: number; readonly count: number }
}

const pick = <T>(list: readonly T[], uniform: Uniform): T => list[Math.floor(uniform() * list.length)]!

/** Whole numbers, as a certificate has them; now and then a problem withheld, a value far off, a part left out. */
function disturbed(given: MeasuredGpu, model: GpuModel, catalogue: Catalogue, uniform: Uniform): MeasuredGpu {
  const one = (chance: number) => uniform() < chance
  const factor = one(0.2) ? 0.4 + 0.8 * uniform() : 1
  const shown = Object.entries(given.rates ?? {}).filter(() => !one(0.07)) as [Precision, number][]
  const rates: Partial<Record<Precision, number>> = Object.fromEntries(
    shown.map(([name, rate]) => [name, Math.floor(rate * factor)]),
  )
  const classes: Partial<Record<Precision, number>> = Object.fromEntries(
    shown.map(([name]) => [name, (requiredClass(model, name, catalogue.rules) ?? 4096) / (one(0.01) ? 2 : 1)]),
  )
  // In units of fp32, where there are none for it.
  if (rates.bf16 === undefined && rates.fp32 !== undefined && rates.fp32 % 3 === 0) {
    rates.bf16 = rates.fp32
    classes.bf16 = 8192
  }
  const hasMemory = given.memoryBytes !== undefined && given.bandwidth !== undefined && !one(0.05)
  const slower = one(0.1) ? 0.5 + uniform() : 1
  return proven({
    kind: one(0.01) ? 'cpu' : 'gpu',
    rates,
    classes,
    ...(one(0.8) ? { declined: PRECISION_NAMES.filter((name) => rates[name] === undefined) } : {}),
    ...(hasMemory
      ? { memoryBytes: Math.floor(given.memoryBytes!), bandwidth: Math.floor(given.bandwidth! * slower) }
      : {}),
    ...(one(0.95) ? { bindRate: Math.floor((rates.int8 ?? 1e13) * (one(0.1) ? 0.3 * uniform() : 0.5)) } : {}),
    ...(one(0.2) ? { sustainedShare: Math.floor(1000 - 250 * uniform()) / 1000 } : {}),
    ...(one(0.1) ? { scaling: Math.floor(1000 - 300 * uniform()) / 1000 } : {}),
  })
}

/** Several devices are read together, but in older files; now and then nobody says how. */
function readOf(count: number, uniform: Uniform): Pick<MeasuredGpu, 'memoriesRead'> {
  if (count === 1) return {}
  const drawn = uniform()
  return drawn < 0.1 ? {} : { memoriesRead: drawn < 0.8 ? 'together' : 'in turns' }
}

function makeCase(catalogue: Catalogue, uniform: Uniform): Case {
  const model = pick(catalogue.models, uniform)
  const noise: Noise = uniform() < 0.6 ? within10Percent : sigma10Percent
  const draw = (): MeasuredGpu => {
    const kind = uniform()
    if (kind < 0.06) return inventCard(uniform)
    if (kind < 0.12) return mixCards(catalogue, uniform, noise)
    const drawn = kind < 0.2 ? pick(catalogue.models, uniform) : model
    return uniform() < 0.5
      ? honestRun(drawn, catalogue.rules, uniform)
      : simulateCard(drawn, catalogue.rules, uniform, noise)
  }
  const count = uniform() < 0.8 ? 1 : 2 + Math.floor(2 * uniform())
  const read = readOf(count, uniform)
  const devices = Array.from({ length: count }, () => ({ ...disturbed(draw(), model, catalogue, uniform), ...read }))
  const sold = uniform() < 0.7 ? model : pick(catalogue.models, uniform)
  const alias = uniform() < 0.3 ? sold.aliases[0] : undefined
  const claimed = catalogue.models.filter((one) => one === sold || (alias !== undefined && one.aliases.includes(alias)))
  return {
    devices,
    claimed: claimed.map(({ id }) => id),
    count: devices.length + (uniform() < 0.05 ? 1 : 0),
    passes: { elapsedUs: 2_000_000 + Math.floor(1e6 * uniform()), count: 10 + Math.floor(90 * uniform()) },
  }
}

const percent = (share: number) => Math.round(100 * share)

const cardsOf = ({ model, twins }: GpuIdentity) => (model === null ? [] : [model.id, ...twins])

const stated = (identity: GpuIdentity, catalogue: Catalogue) => ({
  status: identity.status,
  model: buyerName(cardsOf(identity), catalogue),
  confidencePercent: percent(identity.groupConfidence),
  cards: cardsOf(identity),
  closest: identity.closest.map(({ id, confidence }) => ({ model: id, confidencePercent: percent(confidence) })),
})

function memoryOf(
  { devices, claimed, passes }: Case,
  models: readonly GpuModel[],
  identity: GpuIdentity,
  catalogue: Catalogue,
) {
  const { rates = {}, memoryBytes = 0, bandwidth = 0, memoriesRead } = cleanMeasured(devices[0]!)
  const fitting = models.filter((model) => claimed.includes(model.id) && model.memoryBytes >= memoryBytes)
  const cardBy = {
    1: identifyByRates({ rates, catalogue, claimed: fitting.map(({ id }) => id) }),
    2: identifyByRates({ rates, catalogue, identified: cardsOf(identity), heldBytes: memoryBytes }),
  }
  const held = devices.flatMap((device) => cleanMeasured(device).memoryBytes ?? [])
  const byFewer = () => suppliedByFewer(held, 32768, catalogue)
  const floor = (rules: 1 | 2) => {
    if (memoryBytes === 0 || rates.int8 === undefined) return null
    const cards = suppliers({ rates, heldBytes: memoryBytes, catalogue, byRates: cardBy[rules], rules })
    const perSecond = Math.max(
      suppliedPerSecond(cards, 32768, catalogue.rules, { shownInt8: rates.int8, version: rules }),
      rules === 2 && memoriesRead === 'together' ? byFewer() : 0,
    )
    return Math.max(0, Math.floor(memoryBytes - perSecond * (passes.elapsedUs / 1e6 / passes.count)))
  }
  const isOwn = isOwnMemory(
    { heldBytes: proven(Number(memoryBytes)), perSecond: proven(Number(bandwidth)) },
    cardBy[2],
    catalogue.rules,
    2,
  )
  return { memoryCard: cardBy[2].counted?.id ?? null, isOwn, floorBytes: floor(2), floorBytesVersion1: floor(1) }
}

function ourAnswer(given: Case, catalogue: Catalogue) {
  const models = catalogue.models.filter(({ id }) => given.claimed.includes(id))
  const claim = { count: given.count, card: '', models }
  const { verdict, reasons } = judgeClaim({ claim, devices: given.devices, catalogue, rules: 2 })
  const identities = given.devices.map((device) => identifyGpu(device, catalogue))
  const memory = memoryOf(given, models, identities[0]!, catalogue)
  return { identities: identities.map((one) => stated(one, catalogue)), verdict, reasons, ...memory }
}

interface Answers {
  readonly hash: string
  readonly answers: readonly unknown[]
}

function secondAnswers(catalogue: Catalogue, cases: readonly Case[]): Answers {
  const program = fileURLToPath(new URL('identify.py', import.meta.url))
  const input = JSON.stringify({ catalogue, cases })
  const { stdout, stderr } = spawnSync('python3', ['-B', program], { input, encoding: 'utf8', maxBuffer: 1 << 27 })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

/** What a real card showed, as its certificate of version 1 has it, and what was judged of it. */
function realCard() {
  const file = readFileSync(new URL('../../bench/fixtures/h200-mainnet.json', import.meta.url), 'utf8')
  const { predicate } = JSON.parse(Buffer.from(JSON.parse(file).payload, 'base64').toString())
  const [device] = predicate.judgement.devices
  const { rates, classes, memory, bindPerSecond: bindRate } = device
  const { elapsedUs } = predicate.figures.find(({ kind }: { kind: string }) => kind === 'memory')
  // Bytes of all passes, by the rate, over those of one: how many passes there were.
  const count = Math.round((memory.perSecond * elapsedUs) / 1e6 / (2 * memory.heldBytes))
  const measured = { rates, classes, memoryBytes: memory.heldBytes, bandwidth: memory.perSecond, bindRate }
  const given: Case = { devices: [measured], claimed: ['h200-sxm', 'h200-nvl'], count: 1, passes: { elapsedUs, count } }
  return { given, identity: device.identity, floorBytes: memory.floorBytes }
}

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) skipWith('a second implementation of identity agrees', 'python3 is not installed')

describe.skipIf(!hasPython)(`${CASES} made-up boxes, identified by two programs written apart`, () => {
  let catalogue: Catalogue
  let cases: readonly Case[]
  let ours: readonly ReturnType<typeof ourAnswer>[]
  let theirs: Answers
  beforeAll(async () => {
    catalogue = await shippedCatalogue()
    const uniform = seededUniform(14)
    cases = Array.from({ length: CASES }, () => makeCase(catalogue, uniform))
    theirs = secondAnswers(catalogue, cases)
    ours = cases.map((given) => ourAnswer(given, catalogue))
  })

  test('model, confidence, verdict, codes with parameters, memory card and floor are the same', () => {
    expect(theirs.answers).toHaveLength(CASES)
    for (const [i, our] of ours.entries()) expect({ i, ...(theirs.answers[i] as object) }).toEqual({ i, ...our })
  })

  test('a real H200: identity and floor of its certificate, and its claim by the rules of today', () => {
    const { given, identity, floorBytes } = realCard()
    const [answer] = secondAnswers(catalogue, [given]).answers
    const { model, twins, closest, ...rest } = identity
    // How the cards that measure alike share it goes with what the catalogue has of them today.
    const alike = closest.map(({ model }: { model: string }) => ({ model }))
    const group = { model: 'H200 SXM, H200 NVL or GH200 144GB', cards: [model, ...twins], closest: alike }
    const identities = [{ ...rest, ...group }]
    expect(answer).toMatchObject({ identities, floorBytesVersion1: floorBytes, verdict: 'matches' })
    expect(answer).toEqual(ourAnswer(given, catalogue))
  })

  test('the boxes are of every sort, and the catalogue has one hash', () => {
    const codes = new Set(ours.flatMap(({ reasons }) => reasons.map(({ code }) => code)))
    expect(new Set(ours.map(({ verdict }) => verdict)).size).toBe(8)
    const absent = ['NOTHING_SHOWN', 'INSECURE_PRESET', 'UNREADABLE_CLAIM']
    expect(Object.keys(CLAIM_CODES).filter((code) => !codes.has(code as ClaimCode))).toEqual(absent)
    expect(theirs.hash).toBe(catalogueHash(catalogue))
  })
})
