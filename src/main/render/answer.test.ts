import { readFileSync } from 'node:fs'
import pc from 'picocolors'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Judgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { claimReason } from '../../core/identify/claimReasons.ts'
import { readCatalogue } from '../system.ts'
import { answerLines, answerOf, closingLines, leftOutOf } from './answer.ts'
import { type ShownVerdict, verdictLines } from './verdictLines.ts'

const page = { colours: pc.createColors(false), columns: 80 }
const file = 'c.json'
let catalogue: Catalogue
let predicate: { readonly judgement: Judgement; readonly claims: Pick<ShownVerdict, 'inventory' | 'telemetry'> }
beforeAll(async () => {
  catalogue = await readCatalogue()
  const { payload } = JSON.parse(readFileSync('bench/fixtures/h200-mainnet-2.json', 'utf8'))
  predicate = JSON.parse(Buffer.from(payload, 'base64').toString()).predicate
})

/** The H200 of the fixture so many times, and what a run would have said of a claim. */
function judged(count: number, claim: Judgement['claim'], model: string | null = 'H200 SXM'): Judgement {
  const [device] = predicate.judgement.devices
  const identity = { ...device!.identity, model }
  const devices = Array.from({ length: count }, (_, i) => ({ ...device!, identity, device: i, linkPerSecond: 4e11 }))
  return { ...predicate.judgement, devices, scaling: 990, claim } as never
}
const fits = (device: number) => claimReason('FITS_CLAIM', { device, got: 'H200', expected: 'H200', restsOn: ['int8'] })
const lines = (judgement: Judgement, isVerbose = false, more: Partial<ShownVerdict> = {}) => {
  const answer = answerOf({ judgement, preset: 'mainnet', catalogue, file, isVerbose })
  const shown = { judgement, preset: 'mainnet' as const, faults: [], ...predicate.claims, ...more }
  const detail = verdictLines(shown, { catalogue, colours: page.colours, isVerbose })
  return [...answerLines(answer, page), ...detail, ...closingLines(answer, page)]
}
const headline = (judgement: Judgement, preset: 'mainnet' | 'tiny' = 'mainnet') =>
  answerLines(answerOf({ judgement, preset, catalogue, file }), page)

test.each([false, true])(
  'attack 377: of a rejected run no card is named and nothing passed, verbose %s',
  (isVerbose) => {
    const claim = { text: 'H200', verdict: 'matches' as const, reasons: [fits(0)] }
    const shown = lines({ ...judged(1, claim), outcome: 'rejected', reason: { code: 'LATE_ROOT' } }, isVerbose)
    expect(shown[0]).toMatch(/^REJECTED/)
    expect(shown.join('\n')).not.toMatch(/H200|passed|proven|matches/)
  },
)

describe('the answer comes first and last', () => {
  test('eight equal cards are a row each, in at most 40 lines of at most 80 columns', () => {
    const reasons = Array.from({ length: 8 }, (_, device) => fits(device))
    const shown = lines(judged(8, { text: '8x H200', verdict: 'matches', reasons }))
    expect(shown.length).toBeLessThanOrEqual(32)
    expect(shown.filter((line) => line.length > 80)).toEqual([])
    expect(shown[0]).toBe('AS CLAIMED  8 x H200')
    expect(shown.slice(-3)).toContain('AS CLAIMED  8 x H200')
    expect(shown.filter((line) => /^ {2}[0-7] .* 56 %$/.test(line))).toHaveLength(8)
    expect(shown.join('\n')).toContain('all 8 cards: what it did fits an H200')
    expect(shown.join('\n')).toContain('Not excluded: ')
  })

  test('cards that were left out by choice are said to be so, by the word of who chose, never to be missing', () => {
    const { judgement } = { judgement: judged(1, null, null) }
    const devices = judgement.devices.map((one) => ({ ...one, identity: { ...one.identity, status: 'cpu' } }))
    const reasons = [claimReason('NOT_A_GPU', { device: 0, got: 'CPU', expected: 'H200' })]
    const claim = { text: '8x H200', verdict: 'different', reasons }
    const host = { ...predicate.claims.inventory.host, gpuLeftOut: '8 x NVIDIA H200' } as never
    const ran = { judgement: { ...judgement, devices, claim } as never, preset: 'mainnet' as const, catalogue, file }
    const leftOut = leftOutOf(ran.judgement, 'cpu', { host })
    const shown = answerLines(answerOf({ ...ran, leftOut }), { ...page, columns: 200 }).join('\n')
    expect(shown).toMatch(
      /^NOT AS CLAIMED {2}sold 8 x H200, tested 1 x CPU; left out by choice, as the box lists them: "8 x NVIDIA H200"\n/,
    )
    expect(shown).toContain('why  a CPU was tested and no GPU')
    expect(shown).toMatch(/now {2}Verify again without --devices/)
    expect(shown).not.toContain('CPU, no GPU')
    // A box that was asked for all it has cannot say that anybody chose, nor one that shows a card.
    expect(leftOutOf(ran.judgement, null, { host })).toBeNull()
    expect(leftOutOf(judged(1, null), 'cpu', { host })).toBeNull()
    expect(answerOf({ ...ran, leftOut: null }).text).toBe('sold 8 x H200, found 1 x CPU, no GPU')
  })

  test('attack 203: the words of a box in the answer are seen to be its own, from the first to the last', () => {
    const cpu = judged(1, null, null)
    const devices = cpu.devices.map((one) => ({ ...one, identity: { ...one.identity, status: 'cpu' } }))
    const lie = '8 x T4" (as the box lists them). Its 8 x H100 SXM were proven whole: AS CLAIMED'
    const leftOut = leftOutOf({ devices } as never, 'cpu', { host: { gpuLeftOut: lie } as never })
    const ran = { judgement: { ...cpu, devices } as never, preset: 'mainnet' as const, catalogue, file, leftOut }
    const words = lie.replace('"', "'")
    expect(answerOf(ran).text).toBe(`found 1 x CPU; left out by choice, as the box lists them: "${words}"`)
  })

  test('attack 221: no word of a box is drawn like one of ours, on a screen of 80 columns either', () => {
    const [device] = predicate.claims.inventory.devices
    const name = `${'Tesla T4'.padEnd(68)}  inferred       B200, over 99 % sure`
    const details = { transferRates: 'proven: 900 GB/s both ways' }
    const host = { gpuFaults: 'none. "8 x B200" were proven whole' }
    const inventory = { ...predicate.claims.inventory, devices: [{ ...device!, name, details }], host } as never
    const faults = [{ code: 'GPU_LOST', text: 'nothing. All is proven' }]
    const shown = lines(judged(1, null), true, { inventory, faults })
    const screen = shown.flatMap((line) => line.match(/.{1,80}/g) ?? [])
    expect(screen.filter((row) => /^ {2}\w[\w ]* {2,}B200/.test(row))).toEqual([])
    expect(shown).toContain('  host to card   as the box says: "proven: 900 GB/s both ways"')
    const text = shown.map((line) => line.trim()).join(' ')
    expect(text).toContain('device 0       claimed: "Tesla T4 inferred B200, over 99 % sure"')
    expect(text).toContain('not opened, as the box says: "none. \'8 x B200\' were proven whole"; open')
    expect(text).toContain('failed         as the box says: "nothing. All is proven [GPU_LOST]"')
  })

  test('MIG, vGPU and ECC are named as claims, once for all cards that are alike', () => {
    const [first] = predicate.claims.inventory.devices
    const setUp = (...states: object[]) => {
      const devices = states.map((state) => ({ ...first!, details: { ...first!.details, ...state } })) as never
      const inventory = { ...predicate.claims.inventory, devices }
      const shown = lines(judged(states.length, null), false, { inventory })
      expect(shown.length).toBeLessThanOrEqual(40)
      return shown.filter((line) => line.startsWith('  set up'))
    }
    const whole = { mig: false, eccMode: 'on', virtualization: 'none' }
    expect(setUp(...Array(8).fill(whole))).toEqual(['  set up         MIG off, ECC on (claimed)'])
    expect(setUp(whole, { mig: true, eccMode: 'on' })).toEqual([
      '  set up         card 0: MIG off, ECC on (claimed)',
      '  set up         card 1: MIG is on: this is a slice of a card, ECC on (claimed)',
    ])
    expect(setUp({})).toEqual([])
  })

  /** What is told of the link of two cards. */
  const linked = (linkPerSecond: number, change: (device: Judgement['devices'][number]) => object = () => ({})) => {
    const judgement = judged(2, null)
    const devices = judgement.devices.map((one) => ({ ...one, linkPerSecond, ...change(one) })) as never
    return lines({ ...judgement, devices }, true)
      .map((line) => line.trim())
      .join(' ')
  }

  test('attacks 149, 152, 405 and 407: how fast a card reads what another holds shows no link, however fast', () => {
    for (const perSecond of [1e10, 4e12])
      expect(linked(perSecond)).toMatch(
        /card to card +[\d.]+ [GT]B\/s, over a link or without one: out of a copy, or computed/,
      )
  })

  test('attack 403: of its memory is told what no link brought, not that it is the card’s own', () => {
    expect(linked(1e11)).toMatch(
      /at least [\d.]+ \w+ of it neither came over a link from the host nor was computed again/,
    )
  })

  test('attack 148: roots held back to look even do not hide a fade in the table either', () => {
    const judgement = judged(1, null)
    const even = judgement.devices.map(({ sustained, ...one }) => ({
      ...one,
      sustained: { ...sustained!, lastShare: 1000, peakShare: 620 },
    }))
    expect(lines({ ...judgement, devices: even as never }).find((line) => line.startsWith('  0 '))).toContain(' 62 % ')
  })

  test('sellers who look at their own box are told what buyers would see, and of no file', () => {
    const told = (claim: Judgement['claim']) =>
      answerOf({ judgement: judged(1, claim), preset: 'mainnet', catalogue, file: null }).now
    const reasons = [claimReason('OTHER_CARD', { device: 0, got: 'H200', expected: 'B200' })]
    expect(told({ text: 'H200', verdict: 'matches', reasons: [fits(0)] })).toContain('every buyer would see the same')
    expect(told({ text: 'B200', verdict: 'different', reasons })).toBe(
      'Do not offer it as 1 x B200: every buyer would see this.',
    )
    expect(told(null)).not.toMatch(/certificate|null/)
  })

  test('what was sold stands beside what was found, with the one reason and what to do', () => {
    const reasons = [
      claimReason('OTHER_CARD', { device: 1, got: 'H100 PCIe', expected: 'NVIDIA H100 SXM5 80GB' }),
      claimReason('OTHER_CARD', { device: 0, got: 'H100 PCIe', expected: 'NVIDIA H100 SXM5 80GB' }),
    ]
    const judgement = judged(2, { text: 'H100 SXM x 2', verdict: 'different', reasons }, 'H100 PCIe')
    expect(headline(judgement)).toEqual([
      'NOT AS CLAIMED  sold 2 x H100 SXM, found 2 x H100 PCIe',
      '  why  all 2 cards: what it did fits an H100 PCIe, not an NVIDIA H100 SXM5 80GB',
      '  now  Do not pay for it as 2 x H100 SXM: send c.json to the seller, who can',
      '       check it with your key.',
    ])
  })

  test('the right card that was slowed says how', () => {
    const reasons = [claimReason('SPEED_FADES', { device: 0, got: 700, expected: 850 })]
    const [first] = headline(judged(1, { text: 'H200', verdict: 'throttled', reasons }))
    expect(first).toBe('NOT AS CLAIMED  sold 1 x H200, found 1 x H200 SXM, throttled')
  })

  test('what is neither shown nor refuted is plainly not established, with its reason', () => {
    const reasons = [fits(1), claimReason('BIND_NOT_RUN', { device: 0, got: 0, expected: 1 })]
    const claim = { text: '2x H200', verdict: 'unproven' as const, reasons }
    expect(headline(judged(2, claim))).toEqual([
      'NOT ESTABLISHED  sold 2 x H200: neither shown nor refuted',
      '  why  card 0: the bind part was not run, so it may be several cards; 1 more',
      '       with --verbose',
      '  now  Stop other work on the box and verify again; if it stays so, ask the',
      '       seller why.',
    ])
    expect(headline(judged(2, claim), 'tiny').join(' ')).toContain('Verify again with mainnet')
    expect(lines(judged(2, claim), true).join(' ')).toMatch(/several cards; 1 more\s+below/)
  })

  test('without a claim it is what was found', () => {
    expect(headline(judged(8, null))[0]).toBe('GENUINE  found 8 x H200 SXM')
  })

  test('attack 381: where a card failed the rest is no yes, with a claim or without', () => {
    const matches = { text: 'H200', verdict: 'matches', reasons: [fits(0)] } as const
    for (const [claim, head] of [
      [matches, 'AS CLAIMED  1 x H200'],
      [null, 'GENUINE  found 1 x H200 SXM'],
    ] as const) {
      const answer = answerOf({ judgement: judged(1, claim), preset: 'mainnet', catalogue, file, failed: 1 })
      expect(answer).toMatchObject({
        verdict: 'not-established',
        text: 'not all of the box was judged (1 that failed) [DEVICE_FAILED]',
        why: `without that it would be: ${head}, but for 1 that failed`,
      })
    }
    const other = judged(1, { ...matches, verdict: 'different' })
    expect(answerOf({ judgement: other, preset: 'mainnet', catalogue, file, failed: 1 }).verdict).toBe('not-as-claimed')
  })

  test('attack 476: where a part was over in less than half of what was asked it is no yes', () => {
    const cutShort = { seconds: 20.4, leastSeconds: 300 }
    const ended = (judgement: Judgement) => answerOf({ judgement, preset: 'mainnet', catalogue, file, cutShort })
    expect(ended(judged(1, null))).toMatchObject({
      verdict: 'not-established',
      text: expect.stringContaining('(20 s of at least 5 min 0 s) [CUT_SHORT]'),
    })
    const reasons = [claimReason('OTHER_CARD', { device: 0, got: 'H200 SXM', expected: 'B200' })]
    expect(ended(judged(1, { text: 'B200', verdict: 'different', reasons })).verdict).toBe('not-as-claimed')
  })

  test('all of every card is there for whoever asks', () => {
    const shown = lines(judged(2, { text: '2x H200', verdict: 'matches', reasons: [fits(0), fits(1)] }), true)
    expect(shown.filter((line) => line.includes('sustained   '))).toHaveLength(2)
    expect(shown.join('\n')).toMatch(/int8 speed {5}█+ 1278 TOPS {2}expected 789 to 1287/)
  })
})
