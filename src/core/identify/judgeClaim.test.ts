import { beforeAll, describe, expect, test } from 'vitest'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import { proven } from '../params/provenance.ts'
import type { Catalogue } from './catalogue.ts'
import {
  CLAIM_CODES,
  type ClaimCode,
  claimReason,
  explainClaim,
  explainToVersion1,
  withArticle,
} from './claimReasons.ts'
import { copyBandwidth, expectedBandwidth, expectedRate } from './expected.ts'
import { judgeClaim } from './judgeClaim.ts'
import type { MeasuredGpu } from './measured.ts'
import { parseClaim } from './parseClaim.ts'
import { requiredClass } from './undersizedParts.ts'

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
  // Our prover offers int8 on every card: one without a unit for it shows about as much as in fp32.
  rates.int8 ??= rates.fp32!
  const copy = expectedBandwidth(model, catalogue.rules)!.centre
  const memoryBytes = 0.95 * model.memoryBytes
  const bindRate = 0.5 * rates.int8
  return proven({ rates, classes, memoryBytes, bandwidth: copy * bandwidth, bindRate })
}

/** Several whose memories were read pass by pass: the quicker ones wait for the slowest. */
function together(...ids: readonly string[]): MeasuredGpu[] {
  const devices = ids.map((id) => honest(id))
  const seconds = Math.max(...devices.map(({ memoryBytes, bandwidth }) => memoryBytes! / bandwidth!))
  return devices.map((device) => ({
    ...device,
    bandwidth: proven(device.memoryBytes! / seconds),
    memoriesRead: 'together',
  }))
}

function judge(text: string, devices: readonly MeasuredGpu[]) {
  const parsed = parseClaim(text, catalogue)
  if (!parsed.ok) throw new Error(parsed.problem)
  return judgeClaim({ claim: parsed.claim, devices, catalogue, rules: 2 })
}
const verdict = (text: string, ...devices: readonly MeasuredGpu[]) => judge(text, devices).verdict

describe('judgeClaim', () => {
  test('matches: the claimed card, by full and by short name', () => {
    expect(verdict('H100 SXM', honest('h100-sxm'))).toBe('matches')
    expect(verdict('1x NVIDIA H100', honest('h100-sxm'))).toBe('matches')
    expect(verdict('2x RTX 4090', ...together('rtx-4090', 'rtx-4090'))).toBe('matches')
  })

  test('matches: a twin counts as the card it cannot be told from, at the speed of that card', () => {
    expect(verdict('H200 SXM', honest('gh200-144gb'))).toBe('matches')
    expect(judge('A100 SXM4 80GB', [honest('a100-pcie-80gb')]).reasons).toMatchObject([
      { code: 'NOT_SHOWN', precision: 'bf16' },
    ])
  })

  test('attack 435: whoever keeps up in bf16 alone, on a card without a unit for it, has shown nothing of what was sold', () => {
    for (const id of ['t4', 'rtx-2080-ti', 'v100-sxm2-16gb']) {
      const { name } = modelOf(catalogue, id)
      const shown = honest(id)
      expect(verdict(name, shown)).toBe('matches')
      const rates = { ...shown.rates, bf16: shown.rates!.fp32! }
      const { reasons } = judge(name, [proven({ ...shown, rates, classes: { ...shown.classes, bf16: 8192 } })])
      expect(reasons).toMatchObject([{ code: 'NOT_KEPT_UP', verdict: 'unproven', precision: 'bf16' }])
    }
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
    const strange = proven({ ...honest('h100-sxm'), memoryBytes: 70e9, bandwidth: 9e12 })
    expect(verdict('H100 SXM', strange)).toBe('different')
    expect(verdict('H100 SXM', { ...honest('h100-sxm'), kind: 'cpu' })).toBe('different')
  })

  test('unproven: a device that showed nothing; weaker: no device at all', () => {
    expect(judge('H100 SXM', [proven({ rates: { bf16: 0 } })])).toMatchObject({
      verdict: 'unproven',
      reasons: [{ code: 'NOTHING_MEASURED' }],
    })
    expect(verdict('H100 SXM')).toBe('weaker')
  })

  test('unproven: what was left out is named, and a contradiction outranks it (attack 67)', () => {
    const { rates, bindRate: _, ...rest } = honest('h200-sxm')
    const { fp8: __, int8: ___, ...fewer } = rates!
    const judged = judge('H200', [{ ...rest, rates: fewer }])
    expect(judged.verdict).toBe('unproven')
    expect(judged.reasons.map(({ code, precision }) => [code, precision ?? null])).toEqual([
      ['NOT_SHOWN', 'int8'],
      ['NOT_SHOWN', 'fp8'],
      ['BIND_NOT_RUN', null],
    ])
    const { memoryBytes: ____, bandwidth: _____, ...noMemory } = honest('h200-sxm')
    expect(judge('H200', [noMemory]).reasons).toContainEqual(expect.objectContaining({ code: 'MEMORY_NOT_RUN' }))
    expect(verdict('H200', { ...rest, rates: fewer, sustainedShare: proven(0.5) })).toBe('throttled')
    const half = { ...honest('rtx-4090'), memoryBytes: proven(0.84 * modelOf(catalogue, 'rtx-4090').memoryBytes) }
    expect(judge('RTX 4090', [half]).reasons).toMatchObject([{ code: 'MEMORY_NOT_SHOWN', verdict: 'unproven' }])
  })

  test('unproven: one rate of the claimed card that was shown too slowly', () => {
    const device = honest('rtx-4090')
    const judged = judge('RTX 4090', [
      { ...device, rates: { ...device.rates, fp16: proven(0.84 * device.rates!.fp16!) } },
    ])
    expect(judged.reasons).toMatchObject([{ code: 'NOT_SHOWN', precision: 'fp16', model: 'NVIDIA GeForce RTX 4090' }])
  })

  test('unproven: an RTX 5070 Ti is not sold as the RTX 5080 that fits it too (attack 70)', () => {
    const judged = judge('RTX 5080', [honest('rtx-5070-ti')])
    expect(judged.verdict).toBe('unproven')
    expect(judged.reasons).toContainEqual(
      expect.objectContaining({ code: 'LIKELIER_CARD', got: 'NVIDIA GeForce RTX 5070 Ti' }),
    )
    expect(verdict('RTX 5070 Ti', honest('rtx-5070-ti'))).toBe('matches')
    expect(verdict('RTX 5080', honest('rtx-5080'))).toBe('matches')
  })

  test('unproven: several devices of whose memories nobody says that they were read together (attack 467)', () => {
    const both = together('h200-sxm', 'h200-sxm')
    expect(verdict('2x H200 SXM', ...both)).toBe('matches')
    const told = both.map(({ memoriesRead: _, ...device }) => device)
    const codes = (devices: readonly MeasuredGpu[]) => judge('2x H200 SXM', devices).reasons.map(({ code }) => code)
    expect(codes(told)).toEqual(['MEMORY_IN_TURNS', 'MEMORY_IN_TURNS'])
    expect(codes([both[0]!, told[1]!])).toContain('MEMORY_IN_TURNS')
  })

  test('unproven: a memory that may have waited for another speaks against nothing (attack 471)', () => {
    for (const [claim, ...ids] of [
      ['2x A100', 'a100-sxm4-40gb', 'a100-sxm4-80gb'],
      ['2x H100', 'h100-pcie', 'h100-nvl'],
      ['2x Tesla V100', 'v100-pcie-16gb', 'v100-pcie-32gb'],
    ] as const) {
      const judged = judge(claim, together(...ids))
      expect(judged.verdict, claim).toBe('unproven')
      expect(judged.reasons.map(({ code }) => code)).toContain('MEMORY_TOO_SLOW')
    }
    expect(verdict('2x A100', ...together('a100-sxm4-40gb', 'rtx-4090'))).toBe('different')
    // Attack 472: one that holds less beside it is waited for by nobody.
    const [first, second] = together('rtx-4080', 'rtx-4080')
    const less = {
      ...second!,
      memoryBytes: proven(0.94 * second!.memoryBytes!),
      bandwidth: proven(0.94 * second!.bandwidth!),
    }
    expect(verdict('2x RTX 5080', first!, less)).toBe('weaker')
  })

  test('attack 477: one card as sold excuses those beside it for what they waited, and for no more', () => {
    const waiting = (id: string, share: number, most: MeasuredGpu): MeasuredGpu => {
      const [one] = together(id)
      const memoryBytes = proven(share * most.memoryBytes!)
      const seconds = Math.max(memoryBytes / one!.bandwidth!, most.memoryBytes! / most.bandwidth!)
      return { ...one!, memoryBytes, bandwidth: proven(memoryBytes / seconds) }
    }
    const [sold] = together('rtx-5080')
    const lesser = waiting('rtx-4080', 0.94, sold!)
    expect(verdict('3x RTX 5080', sold!, lesser, lesser)).toBe('weaker')
    const own = waiting('rtx-5080', 0.9, sold!)
    expect(verdict('3x RTX 5080', sold!, own, own)).toBe('matches')
  })

  test('unproven: cards of different memory that fewer cards could have held together (attack 468)', () => {
    // Each slow enough for the claim, and read in the time of the quickest.
    const posed = (ids: readonly string[]) => {
      const models = ids.map((id) => modelOf(catalogue, id))
      const [held, speed] = [0.862, 0.87]
      const seconds = models.map(
        (model) => (2 * held * model.memoryBytes) / (speed * copyBandwidth(model, catalogue.rules)!),
      )
      return ids.map((id, i): MeasuredGpu => {
        const memoryBytes = held * models[i]!.memoryBytes
        const bandwidth = (2 * memoryBytes) / Math.min(...seconds)
        const card = { ...honest(id, { compute: speed }), memoryBytes, bandwidth }
        return proven({ ...card, memoriesRead: 'together' })
      })
    }
    const lenders = (count: number, ...ids: readonly string[]) => [
      ...new Set(judge(`${count}x A100`, posed(ids)).reasons.map(({ code, got }) => `${code} ${got}`)),
    ]
    const [small, large] = ['a100-sxm4-40gb', 'a100-sxm4-80gb'] as const
    expect(lenders(2, small, large)).toContain('MEMORY_MAY_BE_LENT NVIDIA Tesla V100 PCIe 32GB')
    expect(lenders(4, small, large, large, large)).toContain('MEMORY_MAY_BE_LENT NVIDIA H100 PCIe (2 for 3 devices)')
  })

  test('unproven: an H200 that a GH200 of 96 GB could stand in for, with memory of its host (attack 69)', () => {
    const held = 0.88 * modelOf(catalogue, 'h200-sxm').memoryBytes
    const judged = judge('H200', [{ ...honest('h200-sxm'), memoryBytes: proven(held) }])
    expect(judged.reasons).toMatchObject([{ code: 'MEMORY_MAY_BE_LENT', got: 'NVIDIA GH200 96GB' }])
    expect(verdict('H200', proven({ ...honest('h200-sxm'), memoryBytes: 141.4e9, bandwidth: 4.31e12 }))).toBe('matches')
  })

  test('unproven: bound rounds as slow as of two cards that share a product over PCIe (attack 100)', () => {
    const card = honest('h100-sxm')
    const bound = (share: number) => judge('H100 SXM', [{ ...card, bindRate: proven(share * card.rates!.int8!) }])
    expect(bound(0.17).verdict).toBe('unproven')
    expect(bound(0.17).reasons).toMatchObject([{ code: 'BIND_TOO_SLOW', got: 170, expected: 250 }])
    expect(bound(0.26).verdict).toBe('matches')
  })

  test('unproven: bound rounds of a card without a unit for int8, and no int8 rate to hold them against (attack 321)', () => {
    const card = honest('v100s-pcie-32gb')
    const { int8, ...withheld } = card.rates!
    const bound = (bindRate: number, rates: typeof card.rates) =>
      judge('V100S', [{ ...card, rates: rates!, bindRate: proven(bindRate) }]).reasons
    expect(bound(1, withheld)).toMatchObject([
      { code: 'NOT_SHOWN', precision: 'int8', got: 0, expected: 8130000000000 },
    ])
    expect(bound(1, card.rates)).toMatchObject([{ code: 'BIND_TOO_SLOW', got: 0 }])
    expect(bound(0.26 * int8!, card.rates)).toMatchObject([{ code: 'FITS_CLAIM' }])
    const slow = { ...withheld, int8: proven(0.74 * int8!) }
    expect(bound(int8!, slow)).toMatchObject([{ code: 'NOT_SHOWN', precision: 'int8' }])
  })

  test('every finding has words of its own, and version 1 keeps its verdicts', () => {
    const { bindRate: _, ...unbound } = honest('h100-sxm')
    const parsed = parseClaim('H100 SXM', catalogue)
    const claim = parsed.ok ? parsed.claim : null
    const old = judgeClaim({ claim: claim!, devices: [unbound], catalogue, rules: 1 })
    const restsOn = 'rests on int8, fp8, bf16, fp16, fp32, memory, bandwidth'
    expect(old.reasons.map(explainClaim)).toEqual([`what it did fits an NVIDIA H100 SXM5 80GB; ${restsOn}`])
    // To the letter as its certificates hold it.
    expect(old.reasons.map(explainToVersion1)).toEqual([`what it did fits a NVIDIA H100 SXM5 80GB; ${restsOn}`])
    const cards = ['NVIDIA A10', 'H200 SXM', 'RTX 4090', 'L4', 'Tesla T4', 'GeForce GTX 1080', 'B200', 'TITAN V']
    expect(cards.map((card) => withArticle(card).split(' ')[0])).toEqual(['an', 'an', 'an', 'an', 'a', 'a', 'a', 'a'])
    for (const code of Object.keys(CLAIM_CODES) as ClaimCode[]) {
      const facts = { device: 0, got: 1e12, expected: 2e12, model: 'CARD', precision: 'int8' } as const
      expect(explainClaim(claimReason(code, facts))).toMatch(/^[\x20-\x7e]{10,}$/)
    }
  })

  test('shared: slow together, or every part slowed alike', () => {
    expect(verdict('H100 SXM', { ...honest('h100-sxm'), scaling: proven(0.5) })).toBe('shared')
    expect(verdict('B200', honest('b200', { compute: 0.5, bandwidth: 0.5 }))).toBe('shared')
  })

  test('throttled: the speed fades while it works', () => {
    expect(verdict('H100 SXM', { ...honest('h100-sxm'), sustainedShare: proven(0.7) })).toBe('throttled')
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
    const judged = judge('H100 SXM', [{ ...device, classes: { ...device.classes, bf16: proven(2 ** 11) } }])
    expect(judged.verdict).toBe('undersized run')
    expect(judged.reasons[0]).toMatchObject({ code: 'UNDERSIZED_RUN', device: 0, got: 2048 })
  })

  test('the gravest finding names the verdict and every device keeps its reason', () => {
    const judged = judge('2x H100 SXM', [honest('h100-sxm'), { ...honest('h100-sxm'), sustainedShare: proven(0.5) }])
    expect(judged.verdict).toBe('throttled')
    expect(judged.reasons.map((reason) => reason.device)).toEqual([0, 1])
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
    ['8 H100', ['8x H100']],
    ['H100 SXM 8', ['8x H100 SXM']],
    ['RTX 6000 Blackwell', ['RTX PRO 6000 Blackwell']],
  ])('a typing mistake: %s is answered with what was meant', (text, first) => {
    const result = parsed(text)
    const names = (result.ok ? '' : result.nextStep).match(/(?<=")[^",]+(?=")/g)?.filter((name) => name !== ' or ')
    expect(names?.slice(0, first.length)).toEqual(first)
    for (const name of names ?? []) expect(parsed(name).ok, name).toBe(true)
  })

  test('what is near no name is answered with examples, each of them a claim', () => {
    for (const text of ['8x Radeon', '8x', 'x'.repeat(80)]) {
      const result = parsed(text)
      const [, a, b, c] = /^write one of its names, for example "(.+)", "(.+)" or "(.+)"$/.exec(
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
