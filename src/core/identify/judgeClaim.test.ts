import { beforeAll, describe, expect, test } from 'vitest'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import type { Catalogue } from './catalogue.ts'
import { expectedBandwidth, expectedRate } from './expected.ts'
import { judgeClaim } from './judgeClaim.ts'
import type { MeasuredGpu } from './measured.ts'
import { parseClaim } from './parseClaim.ts'
import { requiredClass } from './sizeClass.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

function honest(id: string, { compute = 1, bandwidth = 1 } = {}): MeasuredGpu {
  const model = modelOf(catalogue, id)
  const rates: Partial<Record<Precision, number>> = {}
  const classes: Partial<Record<Precision, number>> = {}
  for (const name of PRECISION_NAMES) {
    const expected = expectedRate(model, name, catalogue.rules)
    if (expected === null) continue
    rates[name] = expected.centre * compute
    classes[name] = requiredClass(model, name, catalogue.rules)!
  }
  const copy = expectedBandwidth(model, catalogue.rules)!.centre
  return { rates, classes, memoryBytes: 0.93 * model.memoryBytes, bandwidth: copy * bandwidth }
}

function judge(text: string, devices: readonly MeasuredGpu[]) {
  const parsed = parseClaim(text, catalogue)
  if (!parsed.ok) throw new Error(parsed.problem)
  return judgeClaim({ claim: parsed.claim, devices, catalogue })
}
const verdict = (text: string, ...devices: readonly MeasuredGpu[]) => judge(text, devices).verdict

describe('judgeClaim', () => {
  test('matches: the claimed card, by full and by short name', () => {
    expect(verdict('H100 SXM', honest('h100-sxm'))).toBe('matches')
    expect(verdict('1x NVIDIA H100', honest('h100-sxm'))).toBe('matches')
    expect(verdict('2x RTX 4090', honest('rtx-4090'), honest('rtx-4090'))).toBe('matches')
  })

  test('matches: a twin counts as the card it cannot be told from', () => {
    expect(verdict('A100 SXM4 80GB', honest('a100-pcie-80gb'))).toBe('matches')
  })

  test('weaker: a lesser card, less memory, or fewer cards than sold', () => {
    expect(verdict('H100 SXM', honest('a100-sxm4-80gb'))).toBe('weaker')
    expect(verdict('A100 80GB', honest('a100-sxm4-40gb'))).toBe('weaker')
    const short = judge('8x H100 SXM', [honest('h100-sxm')])
    expect(short.verdict).toBe('weaker')
    expect(short.reasons).toContainEqual(expect.objectContaining({ code: 'FEWER_DEVICES', got: 1, expected: 8 }))
  })

  test('different: another card that is not weaker, or none that is known', () => {
    expect(verdict('A100 80GB', honest('h100-sxm'))).toBe('different')
    const strange = { ...honest('h100-sxm'), memoryBytes: 70e9, bandwidth: 9e12 }
    expect(verdict('H100 SXM', strange)).toBe('different')
    expect(verdict('H100 SXM', { ...honest('h100-sxm'), kind: 'cpu' })).toBe('different')
  })

  test('weaker: a device that showed nothing', () => {
    expect(judge('H100 SXM', [{ rates: { bf16: 0 } }])).toMatchObject({
      verdict: 'weaker',
      reasons: [{ code: 'NOTHING_SHOWN' }],
    })
    expect(verdict('H100 SXM')).toBe('weaker')
  })

  test('shared: slow together, or every part slowed alike', () => {
    expect(verdict('H100 SXM', { ...honest('h100-sxm'), scaling: 0.5 })).toBe('shared')
    expect(verdict('B200', honest('b200', { compute: 0.5, bandwidth: 0.5 }))).toBe('shared')
  })

  test('throttled: the speed fades while it works', () => {
    expect(verdict('H100 SXM', { ...honest('h100-sxm'), sustainedShare: 0.7 })).toBe('throttled')
  })

  test('power-capped: full memory and bandwidth, every rate lower alike', () => {
    expect(verdict('B200', honest('b200', { compute: 0.55 }))).toBe('power-capped')
    for (const id of ['h100-sxm', 'h200-sxm', 'rtx-4090', 'a100-sxm4-80gb', 'rtx-3090'])
      expect(verdict(modelOf(catalogue, id).name, honest(id, { compute: 0.65 })), id).toBe('power-capped')
  })

  test('no card of the catalogue is sold as matching at 60 % of its speed, and each matches at 90 %', () => {
    for (const { id, name } of catalogue.models) {
      expect(verdict(name, honest(id, { compute: 0.6 })), id).not.toBe('matches')
      expect(verdict(name, honest(id, { compute: 0.9 })), id).toBe('matches')
      expect(verdict(name, honest(id, { compute: 0.5, bandwidth: 0.5 })), id).not.toBe('matches')
    }
  })

  test('undersized run: the class of a smaller card (§4.0, attack 27)', () => {
    const device = honest('h100-sxm')
    const judged = judge('H100 SXM', [{ ...device, classes: { ...device.classes, bf16: 2 ** 11 } }])
    expect(judged.verdict).toBe('undersized run')
    expect(judged.reasons[0]).toMatchObject({ code: 'UNDERSIZED_RUN', device: 0, got: 2048 })
  })

  test('the gravest finding names the verdict and every device keeps its reason', () => {
    const judged = judge('2x H100 SXM', [honest('h100-sxm'), { ...honest('h100-sxm'), sustainedShare: 0.5 }])
    expect(judged.verdict).toBe('throttled')
    expect(judged.reasons.map((reason) => reason.device)).toEqual([0, 1])
    expect(judged.count.claimed).toBe(2)
  })
})

describe('parseClaim', () => {
  const parsed = (text: string) => parseClaim(text, catalogue)
  test.each([
    ['8x H100 SXM', 8, ['h100-sxm']],
    ['8 × NVIDIA H100 80GB HBM3', 8, ['h100-sxm']],
    ['RTX 4090', 1, ['rtx-4090']],
    ['GeForce RTX 4080 x2', 2, ['rtx-4080']],
    ['h100', 1, ['h100-pcie', 'h100-sxm', 'h100-nvl']],
    ['4X nvidia a100-sxm4-80gb', 4, ['a100-sxm4-80gb']],
  ])('%s', (text, count, ids) => {
    const result = parsed(text)
    expect(result.ok && { count: result.claim.count, ids: result.claim.models.map(({ id }) => id) }).toEqual({
      count,
      ids,
    })
  })

  test.each(['', '0x H100', '33x H100', '8x', 'H100\u001b[2J', 'x'.repeat(81), 'RTX 9999', '8x Radeon'])(
    'refuses %j with a next step',
    (text) => {
      expect(parsed(text)).toMatchObject({ ok: false, nextStep: expect.any(String) })
    },
  )

  test.each([
    ['H10', ['H100', 'A10', 'H20']],
    ['8x H1OO', ['8x H100']],
    ['4090', ['RTX 4090']],
    ['RTX4090 24GB', ['RTX 4090']],
    ['RXT 4090', ['RTX 4090']],
    ['3080ti', ['RTX 3080 Ti']],
    ['A100 80G', ['A100 80GB']],
    ['H200 SMX', ['H200 SXM']],
    ['Titan', ['TITAN RTX']],
    ['RTX 6000 Blackwell', ['RTX PRO 6000 Blackwell']],
  ])('a slip of the pen: %s is answered with what was meant', (text, first) => {
    const result = parsed(text)
    const names = (result.ok ? '' : result.nextStep).match(/(?<=")[^",]+(?=")/g)?.filter((name) => name !== ' or ')
    expect(names?.slice(0, first.length)).toEqual(first)
    for (const name of names ?? []) expect(parsed(name).ok, name).toBe(true)
  })

  test('what is near no name is answered with examples, each of them a claim', () => {
    for (const text of ['8x Radeon', '8x', 'x'.repeat(80)]) {
      const result = parsed(text)
      const [, a, b, c] = /^write one of its names, for example "(.+)", "(.+)" and "(.+)"$/.exec(
        result.ok ? '' : result.nextStep,
      )!
      for (const name of [a, b, c]) expect(parsed(name!).ok, name).toBe(true)
    }
  })

  test('every shipped name and alias is understood', () => {
    for (const model of catalogue.models)
      for (const name of [model.id, model.name, ...model.aliases]) {
        const result = parsed(`2x ${name}`)
        expect(result.ok && result.claim.models.map(({ id }) => id), name).toContain(model.id)
      }
  })
})
