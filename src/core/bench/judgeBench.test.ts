import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import type { Catalogue } from '../identify/catalogue.ts'
import { expectedBandwidth, expectedRate } from '../identify/expected.ts'
import { parseClaim } from '../identify/parseClaim.ts'
import { PRECISION_NAMES, type Precision } from '../params/precision.ts'
import { type BenchReport, benchReportSchema, type MeasuredDevice } from './benchReport.ts'
import { changesBetween, notCompared, slowerThanBefore } from './compareRuns.ts'
import { benchVerdict, judgeBench } from './judgeBench.ts'
import { summariseSamples } from './summariseSamples.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

const WELL = { smClockMhz: 1700, temperatureC: 60, powerWatts: 600, eccUncorrected: 0, processes: 1, pcieWidth: 16 }

/** A card that shows this share of the middle of what is expected of a model. */
function cardOf(id: string, change: Partial<MeasuredDevice> = {}, share = 1): MeasuredDevice {
  const model = modelOf(catalogue, id)
  const products = PRECISION_NAMES.flatMap((precision) => {
    const expected = expectedRate(model, precision, catalogue.rules)
    if (!expected) return []
    const provenOpsPerSec = Math.round(share * expected.centre)
    return [{ precision, size: 16384, k: 32768, provenOpsPerSec, bareOpsPerSec: Math.round(1.1 * provenOpsPerSec) }]
  })
  const bytesPerSec = Math.round(share * expectedBandwidth(model, catalogue.rules)!.centre)
  return {
    device: 0,
    name: `NVIDIA ${model.aliases[0]}`,
    class: 'gpu',
    backEnd: 'cuda',
    uuid: 'GPU-1',
    driver: '580.1',
    productLibrary: 'cuBLASLt 130100',
    memoryBytes: model.memoryBytes,
    products,
    memory: { bytes: model.memoryBytes, bytesPerSec },
    transfers: { pinned: { toCard: 55e9, toHost: 54e9 }, pageable: { toCard: 9e9, toHost: 8e9 } },
    watched: summariseSamples([WELL]),
    state: { eccMode: 'on', pcieMaxWidth: 16, virtualization: 'none', remappedRows: 0, remapFailed: false },
    ...change,
  }
}

function judge(device: MeasuredDevice, claimed: string | null = null) {
  const parsed = claimed === null ? null : parseClaim(claimed, catalogue)
  const judged = judgeBench([device], parsed?.ok ? parsed.claim : null, catalogue)
  const codes = (list: typeof judged.problems) => list.map(({ code, figure }) => `${code} ${figure}`)
  return {
    verdict: benchVerdict(judged),
    model: judged.devices[0]!.model?.id,
    problems: codes(judged.problems),
    notes: codes(judged.notes),
  }
}

const asReport = (devices: readonly MeasuredDevice[]): BenchReport => {
  const judged = judgeBench(devices, null, catalogue)
  const when = '2026-11-15T12:00:00.000Z'
  const head = { format: 1, kind: 'bench', program: 'touchstone', startedAt: when, seconds: 1, against: null } as const
  return { ...head, ...judged, links: [], verdict: benchVerdict(judged) }
}

describe('a bench', () => {
  test('passes every card of the catalogue that shows what is expected of it', () => {
    for (const { id, bandwidth } of catalogue.models.filter((model) => model.bandwidth.length > 0))
      expect({ id, bandwidth, ...judge(cardOf(id)) }).toMatchObject({ verdict: 'pass', problems: [], notes: [] })
  })

  test('fails a card that is slower than it should be, in every figure, and does not take it for a slower model', () => {
    const slow = judge(cardOf('h100-sxm', {}, 0.4))
    expect(slow).toMatchObject({ verdict: 'fail' })
    expect(slow.problems).toContain('SLOW int8 proven')
    expect(slow.problems).toContain('SLOW bf16 bare')
    expect(slow.problems).toContain('SLOW memory')
  })

  test('one slow figure is enough, and a fast one is none', () => {
    const { memory, ...card } = cardOf('h200-sxm')
    const half = { ...card, memory: { ...memory!, bytesPerSec: memory!.bytesPerSec / 2 } }
    expect(judge(half)).toMatchObject({ verdict: 'fail', problems: ['SLOW memory'] })
    const twice = { ...card, memory: { ...memory!, bytesPerSec: memory!.bytesPerSec * 2 } }
    expect(judge(twice)).toMatchObject({ verdict: 'pass', problems: [] })
  })

  test.each([
    ['Xid', { ...WELL, xid: '79' }, {}, 'DRIVER_ERROR Xid'],
    ['uncorrected ECC', { ...WELL, eccUncorrected: 2 }, {}, 'MEMORY_ERRORS ECC'],
    ['heat', { ...WELL, throttle: 'thermalHardware' }, {}, 'HARDWARE_SLOWDOWN thermalHardware'],
    ['power brake', { ...WELL, throttle: 'powerBrake' }, {}, 'HARDWARE_SLOWDOWN powerBrake'],
    ['rows', WELL, { remapFailed: true }, 'REMAP_FAILED memory rows'],
  ])('fails a card with %s, however fast it is', (_, sample, state, code) => {
    const sick = cardOf('h200-sxm', { watched: summariseSamples([sample]), state })
    expect(judge(sick)).toMatchObject({ verdict: 'fail', problems: [code] })
  })

  test.each([
    ['the power limit', { ...WELL, throttle: 'powerLimit' }, {}, 'POWER_LIMITED clocks'],
    ['heat that the driver steers against', { ...WELL, throttle: 'thermalSoftware' }, {}, 'HOT clocks'],
    ['set clocks', { ...WELL, throttle: 'applicationClocks' }, {}, 'CLOCKS_HELD clocks'],
    ['somebody else on it', { ...WELL, processes: 3 }, {}, 'OTHER_PROCESSES processes'],
    ['half its lanes', { ...WELL, pcieWidth: 8 }, { pcieMaxWidth: 16 }, 'PCIE_NARROW PCIe lanes'],
    ['ECC off', WELL, { eccMode: 'off' }, 'ECC_OFF ECC'],
    ['a hypervisor', WELL, { virtualization: 'vGPU' }, 'VIRTUAL virtualization'],
    ['remapped rows', WELL, { remappedRows: 3 }, 'REMAPPED_ROWS memory rows'],
    ['nothing said', {}, {}, 'NOT_WATCHED telemetry'],
  ])('notes %s and passes all the same', (_, sample, state, code) => {
    const card = cardOf('h200-sxm', { watched: summariseSamples([sample]), state })
    expect(judge(card)).toMatchObject({ verdict: 'pass', problems: [], notes: [code] })
  })

  test('judges nothing that it has no range for: an unknown name, a slice, a CPU', () => {
    const unknown = cardOf('h200-sxm', { name: 'NVIDIA X900' })
    expect(judge(unknown)).toMatchObject({ verdict: 'not-judged', notes: ['NOT_IN_CATALOGUE card'] })
    const slice = cardOf('h200-sxm', { memoryBytes: 18 * 2 ** 30, state: { mig: true } })
    expect(judge(slice)).toMatchObject({ verdict: 'not-judged', notes: ['NOT_IN_CATALOGUE card', 'MIG_ON MIG'] })
    const cpu = cardOf('h200-sxm', { class: 'cpu' })
    expect(judge(cpu)).toMatchObject({ verdict: 'not-judged', notes: ['IS_A_CPU card'] })
  })

  test('a claim says what it is held against and how many there should be', () => {
    const a100 = cardOf('a100-sxm4-80gb')
    expect(judge(a100, 'A100 80GB')).toMatchObject({ verdict: 'pass', problems: [] })
    expect(judge(a100, 'H100 SXM')).toMatchObject({ verdict: 'fail', model: 'h100-sxm', notes: ['OTHER_NAME card'] })
    expect(judge(a100, '8x A100 80GB')).toMatchObject({ verdict: 'fail', problems: ['FEWER_CARDS count'] })
  })

  test('of models with one name the nearest counts, and only those with its memory', () => {
    const named = (id: string) => judge(cardOf(id, { name: 'NVIDIA A100' })).model
    expect(named('a100-pcie-40gb')).toMatch(/^a100-(pcie|sxm4)-40gb$/)
    expect(named('a100-sxm4-80gb')).toMatch(/^a100-(pcie|sxm4)-80gb$/)
  })

  test('a report is what its schema says, read back as it was', () => {
    const report = asReport([cardOf('h200-sxm')])
    expect(benchReportSchema.parse(JSON.parse(JSON.stringify(report)))).toEqual(report)
  })

  test('whatever was measured: a pass has no problem and a range for each device', () => {
    const share = fc.double({ min: 0.01, max: 3, noNaN: true })
    fc.assert(
      fc.property(fc.array(share, { minLength: 1, maxLength: 4 }), fc.boolean(), (shares, known) => {
        const name = known ? {} : { name: 'NVIDIA X900' }
        const devices = shares.map((one, device) => cardOf('rtx-4090', { device, ...name }, one))
        const judged = judgeBench(devices, null, catalogue)
        const verdict = benchVerdict(judged)
        expect(verdict === 'fail').toBe(judged.problems.length > 0)
        expect(verdict === 'not-judged').toBe(!known)
      }),
      { numRuns: 100 },
    )
  })
})

describe('a comparison', () => {
  test('finds the card by its UUID wherever it stands, and names what fell by more than is tolerated', () => {
    const [a, b] = [cardOf('h200-sxm', { uuid: 'GPU-a' }), cardOf('h200-sxm', { uuid: 'GPU-b', device: 1 }, 0.9)]
    const before = asReport([a, b])
    const now = asReport([
      { ...b, device: 0 },
      { ...a, device: 1 },
    ])
    const changes = changesBetween(before, now)
    expect(changes.every((change) => change.before === change.now)).toBe(true)
    expect(changes.map(({ figure }) => figure)).toContain('to the card')
    const slower = changesBetween(before, asReport([cardOf('h200-sxm', { uuid: 'GPU-a' }, 0.92)]))
    expect(slowerThanBefore(slower, 0.1)).toEqual([])
    expect(slowerThanBefore(slower, 0.05).map(({ figure }) => figure)).toContain('memory')
  })

  test('compares nothing with another card or another size', () => {
    const card = cardOf('h200-sxm')
    expect(changesBetween(asReport([card]), asReport([{ ...card, uuid: 'GPU-2' }]))).toEqual([])
    const small = { ...card, products: card.products.map((product) => ({ ...product, size: 64 })) }
    const figures = changesBetween(asReport([card]), asReport([small])).map(({ figure }) => figure)
    expect(figures).toEqual(['memory', 'to the card', 'to the host'])
  })

  test('attack 264: is no pass where the run that was named has nothing of a card, or the card has gone', () => {
    const [one, two] = [cardOf('h200-sxm'), cardOf('h200-sxm', { uuid: 'GPU-2', device: 1 })]
    const small = { ...one, products: one.products.map((product) => ({ ...product, size: 64 })) }
    const held = (then: readonly MeasuredDevice[], now: readonly MeasuredDevice[]) => {
      const [before, after] = [asReport(then), asReport(now)]
      const notes = notCompared(before, after, changesBetween(before, after), PRECISION_NAMES, () => true)
      return [benchVerdict({ ...after, notes }), ...notes.map(({ device }) => device)]
    }
    expect(held([one, two], [one, two])).toEqual(['pass'])
    expect(held([two], [one])).toEqual(['not-judged', 0, null])
    expect(held([one, two], [one])).toEqual(['not-judged', null])
    expect(held([one], [small])).toEqual(['not-judged', 0])
  })

  test('attack 348: a card that hides its UUID is not the one that stood in its place', () => {
    const then = cardOf('h200-sxm')
    const [before, now] = [asReport([then]), asReport([{ ...then, uuid: null }])]
    for (const [a, b] of [
      [before, now],
      [now, before],
    ] as const) {
      expect(changesBetween(a, b)).toEqual([])
      expect(notCompared(a, b, [], PRECISION_NAMES, () => true)).toMatchObject([{ device: 0 }, { device: null }])
    }
    expect(changesBetween(now, now)).not.toEqual([])
  })

  describe('attack 339: is no pass where a figure of the run that was named is gone', () => {
    const cards = (change: Partial<MeasuredDevice> = {}) => [
      cardOf('h200-sxm', change),
      cardOf('h200-sxm', { uuid: 'GPU-2', device: 1 }),
    ]
    const run = (devices: readonly MeasuredDevice[], bytesPerSec: number | null = 3.5e11) => ({
      ...asReport(devices),
      links: [{ from: 1, to: 0, bytesPerSec, why: bytesPerSec === null ? 'NO_FILL' : null }],
    })
    const compare = (now: BenchReport, precisions: readonly Precision[] = PRECISION_NAMES) => {
      const before = run(cards())
      const notes = notCompared(before, now, changesBetween(before, now), precisions, () => true)
      const verdict = benchVerdict({ ...now, problems: [], notes })
      return [verdict, ...notes.map(({ device, figure, got }) => `${device} ${figure} ${got}`)]
    }
    const products = (then: MeasuredDevice, keep: (precision: Precision) => boolean) =>
      cards({ products: then.products.filter(({ precision }) => keep(precision)) })

    test('a link', () => {
      expect(compare(run(cards()))).toEqual(['pass'])
      expect(compare(run(cards(), null))).toEqual(['not-judged', '0 from card 1 none'])
      expect(compare({ ...run(cards()), links: [] })).toEqual(['not-judged', '0 from card 1 none'])
    })

    test('a precision, unless it was left out', () => {
      const [card] = cards()
      const now = run(products(card!, (precision) => precision !== 'bf16'))
      expect(compare(now)).toEqual(['not-judged', '0 bf16 proven none', '0 bf16 bare none'])
      const others = PRECISION_NAMES.filter((precision) => precision !== 'bf16')
      expect(compare(now, others)).toEqual(['pass'])
    })

    test('a product at another size, whatever it shows', () => {
      const [card] = cards()
      const slow = card!.products.map((one) =>
        one.precision === 'bf16' ? { ...one, size: 8192, provenOpsPerSec: 1, bareOpsPerSec: 2 } : one,
      )
      expect(compare(run(cards({ products: slow })))).toEqual(['not-judged', '0 bf16 proven 1', '0 bf16 bare 2'])
    })

    test('memory, but for a little that was not free', () => {
      const { bytes } = cardOf('h200-sxm').memory!
      const of = (share: number, bytesPerSec: number) => cards({ memory: { bytes: share * bytes, bytesPerSec } })
      expect(compare(run(of(1 / 4, 1)))).toEqual(['not-judged', '0 memory 1'])
      expect(compare(run(cards({ memory: null })))).toEqual(['not-judged', '0 memory none'])
      // Also where a whole power of two, or half of the way to one, lies between.
      for (let share = 0.75; share < 1.35; share += 0.01) expect(compare(run(of(share, 1)))).toEqual(['pass'])
    })
  })
})

describe('summariseSamples', () => {
  test('an idle card says nothing of its clocks under load; errors are kept whenever they came', () => {
    const idle = { smClockMhz: 345, throttle: 'idle', eccUncorrected: 0 }
    const busy = { smClockMhz: 1600, throttle: 'powerLimit', eccUncorrected: 0 }
    const sick = { smClockMhz: 1500, throttle: '', eccUncorrected: 1, xid: '63 79' }
    expect(summariseSamples([idle, busy, sick, idle])).toMatchObject({
      samples: 4,
      smClockMhz: { low: 1500, high: 1600 },
      throttled: [{ reason: 'powerLimit', share: 0.5 }],
      xids: [63, 79],
      eccUncorrected: 1,
    })
    expect(summariseSamples([])).toMatchObject({ samples: 0, smClockMhz: null, throttled: [], xids: [] })
  })
})
