import { expect, test } from 'vitest'
import { honestRun, seededUniform } from '../../../test/sim/gpuMeasurements.ts'
import {
  allPairs,
  isMuchLess,
  lacksMemory,
  lacksSpeed,
  POSING_MODES,
  poseAs,
  poseAsSeveral,
} from '../../../test/sim/posing.ts'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { proven } from '../params/provenance.ts'
import { copyBandwidth } from './expected.ts'
import { judgeClaim } from './judgeClaim.ts'

test('attack 67: every pair of the catalogue, every mode, every attempt', async () => {
  const catalogue = await shippedCatalogue()
  const pairs = allPairs(catalogue)
  const less = pairs.filter((pair) => isMuchLess(pair, catalogue))
  console.log(`${pairs.length} pairs, ${less.length} of them much less than claimed`)
  for (const mode of POSING_MODES) {
    const passing = ([1, 2] as const).map(
      (rules) => less.filter((pair) => poseAs(pair, { mode, effort: 'thorough', catalogue, rules }) !== null).length,
    )
    console.log(`${mode}: ${passing[0]} match under version 1, ${passing[1]} under version 2`)
    expect(passing[1], mode).toBe(0)
  }
})

test('attack 321: every pair of the catalogue, bound rounds at one operation a second', async () => {
  const catalogue = await shippedCatalogue()
  for (const mode of ['shares', 'lends', ...POSING_MODES] as const) {
    const posing = { mode, effort: 'quick', catalogue, rules: 2, slowBind: true } as const
    expect(allPairs(catalogue).filter((pair) => poseAs(pair, posing) !== null).length, mode).toBe(0)
  }
})

test('attack 403: a card with less memory, whose host works on the rest itself', async () => {
  const catalogue = await shippedCatalogue()
  const less = allPairs(catalogue).filter((pair) => isMuchLess(pair, catalogue))
  const passing = less.filter((pair) => poseAs(pair, { mode: 'works', effort: 'quick', catalogue, rules: 2 }) !== null)
  const fast = passing.filter(({ claimed }) => copyBandwidth(claimed, catalogue.rules)! > 1.4e12)
  console.log(fast.map(({ box, claimed }) => `${box.id} as ${claimed.id}`).join(', '))
  expect([less.length, passing.length, fast.length]).toEqual([2956, 455, 15])
})

test('attack 361: two to four cards share plain rounds, one of them holds the memory and runs the bound ones', async () => {
  const catalogue = await shippedCatalogue()
  const slower = allPairs(catalogue).filter((pair) => lacksSpeed(pair, catalogue))
  const posing = { mode: 'keeps', effort: 'quick', catalogue, rules: 2 } as const
  const passing = slower.flatMap((pair) => poseAs(pair, posing) ?? [])
  const fast = passing.filter(({ rates }) => rates!.int8! > 450e12)
  expect([slower.length, passing.length, fast.length]).toEqual([2642, 604, 69])
})

test('attack 469: one card holds the memory, up to six others run the rest, the bound rounds among it', async () => {
  const catalogue = await shippedCatalogue()
  const keepers = allPairs(catalogue).filter((pair) => lacksSpeed(pair, catalogue) && !lacksMemory(pair))
  const posing = { mode: 'keeps', effort: 'quick', catalogue, rules: 2 } as const
  const passing = keepers.flatMap((pair) => {
    if (poseAs(pair, posing) !== null) return []
    const helpers = catalogue.models.filter((model) => lacksMemory({ box: model, claimed: pair.claimed }))
    const shown = helpers.map((model) => poseAs(pair, { ...posing, beside: { model, cards: 6 } }))
    return shown.find((one) => one !== null) ?? []
  })
  const fast = passing.filter(({ rates }) => rates!.int8! > 450e12)
  console.log(`${keepers.length} keepers, ${passing.length} pass by others, ${fast.length} of them fast`)
  expect([keepers.length, passing.length, fast.length]).toEqual([889, 148, 26])
})

test('attack 468: fewer cards than devices, with less memory than a claim asks for, alone or beside one as sold', async () => {
  const catalogue = await shippedCatalogue()
  const pairs = catalogue.models.flatMap((box) => catalogue.models.map((claimed) => ({ box, claimed })))
  const asked = [2, 3, 4, 5, 6, 7, 8].flatMap((devices) =>
    Array.from({ length: devices - 1 }, (_, i) => ({ devices, cards: i + 1 })),
  )
  const passing = (genuine: number) =>
    pairs.flatMap((pair) =>
      asked
        .filter((one) => poseAsSeveral(pair, { ...one, genuine }, catalogue) !== null)
        .map((one) => ({ ...pair, ...one })),
    )
  const [alone, beside] = [passing(0), passing(1)]
  const fast = alone.filter(({ claimed }) => copyBandwidth(claimed, catalogue.rules)! > 1.4e12)
  console.log(
    fast.map(({ cards, box, devices, claimed }) => `${cards}x ${box.id} as ${devices}x ${claimed.id}`).join(', '),
  )
  // What not even honest cards of that kind can rule out.
  expect([alone.length, fast.length, beside.length]).toEqual([1845, 6, 1813])
})

test('attack 380: three to seven cards, of which none has the memory, share all of it', async () => {
  const catalogue = await shippedCatalogue()
  const smaller = allPairs(catalogue).filter(lacksMemory)
  const posing = { mode: 'spreads', effort: 'quick', catalogue, rules: 2 } as const
  const passing = smaller.filter((pair) => poseAs(pair, posing) !== null)
  const alone = passing.filter((pair) => poseAs(pair, { ...posing, mode: 'lends' }) !== null)
  const unjoined = passing.filter(({ box }) => !box.nvlink)
  expect([smaller.length, passing.length, alone.length, unjoined.length]).toEqual([2287, 1006, 213, 749])
})

test('attack 404: two cards, of which neither has the memory, send one another what they lack', async () => {
  const catalogue = await shippedCatalogue()
  const smaller = allPairs(catalogue).filter(lacksMemory)
  const posing = { mode: 'crosses', effort: 'quick', catalogue, rules: 2 } as const
  const passing = smaller.filter((pair) => poseAs(pair, posing) !== null)
  const unjoined = passing.filter(({ box }) => !box.nvlink)
  expect([smaller.length, passing.length, unjoined.length]).toEqual([2287, 618, 506])
})

test.each([
  ['an idle card', () => 0, 0.99],
  ['up to a tenth of the memory in use', (uniform: () => number) => 0.095 * uniform(), 0],
] as const)('how often an honest card matches itself, %s', async (name, inUse, least) => {
  const catalogue = await shippedCatalogue()
  const uniform = seededUniform(6)
  const RUNS = 4000
  const shares = catalogue.models.map((model) => {
    const claim = { count: 1, card: model.name, models: [model] }
    let passed = 0
    for (let i = 0; i < RUNS; i++) {
      const shown = honestRun(model, catalogue.rules, uniform)
      const devices = [{ ...shown, memoryBytes: proven(shown.memoryBytes! * (1 - inUse(uniform))) }]
      if (judgeClaim({ claim, devices, catalogue, rules: 2 }).verdict === 'matches') passed++
    }
    return { id: model.id, share: passed / RUNS }
  })
  const worst = shares.sort((a, b) => a.share - b.share).slice(0, 5)
  const mean = shares.reduce((sum, { share }) => sum + share, 0) / shares.length
  console.log(`${name}: mean ${mean}; worst ${worst.map(({ id, share }) => `${id} ${share}`).join(', ')}`)
  expect(worst[0]!.share).toBeGreaterThanOrEqual(least)
})
