import { beforeAll, describe, expect, test } from 'vitest'
import { judgeRun } from '../../src/core/certificate/judgeRun.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import type { Precision } from '../../src/core/params/precision.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import { type Part, untimedRoots } from '../../src/core/proof/partKinds.ts'
import type { Run } from '../../src/core/proof/verifyPart.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { type SyntheticCard, syntheticRun } from '../support/syntheticRun.ts'
import { cardLike, classesOf } from './evidenceCheats.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

/** The run with other times for the timed roots of some parts, in microseconds since their clock began. */
function retimed(run: Run, isMeant: (part: Part) => boolean, change: (us: number, device: number) => number): Run {
  const parts = run.parts.map((evidence, p) => {
    const part = run.challenge.parts[p]!
    if (!isMeant(part)) return evidence
    const from = evidence.zSentUs ?? 0
    const devices = evidence.devices.map(({ device, arrivalsUs, ...rest }) => {
      const untimed = untimedRoots(part, device)
      const times = arrivalsUs.map((us, i) => (i < untimed ? us : from + change(us - from, device)))
      return { ...rest, device, arrivalsUs: times }
    })
    return { ...evidence, devices }
  })
  return { ...run, parts }
}

const isMemory = ({ kind }: Part) => kind === 'memory' || kind === 'memories'
const isRounds = ({ kind }: Part) => kind === 'rounds'
/** The second device begins when the first has long been done. */
const secondLater = (us: number, device: number) => us + 20e6 * device

const judge = (run: Run, cards: readonly SyntheticCard[]) =>
  judgeRun({
    run,
    preset: PRESETS.mainnet,
    deviceClasses: cards.map(() => 'gpu'),
    offered: cards.map(({ rates }) => Object.keys(rates) as Precision[]),
    catalogue,
    claim: null,
    roundTripUs: 0,
    rejected: null,
  })

describe('attack 143: a count of cards from memory that no card has', () => {
  /** Half of a card each; the fills lie in the host, or are computed anew for every pass. */
  const inTheHost = (id: string, heldBytes: number, bandwidth: number) => {
    const half = { ...cardLike(catalogue, id, 0.5), heldBytes, bandwidth: 4.1 * heldBytes }
    const run = syntheticRun({ cards: [half, half], size: () => 8192 })
    return judge(
      retimed(run, isMemory, (us) => Math.round((us * half.bandwidth) / bandwidth)),
      [half, half],
    )
  }

  test('one RTX 3060 as two devices that hold 160 GB each is not two cards', () => {
    const { outcome, count, devices } = inTheHost('rtx-3060-12gb', 160e9, 30e9)
    expect(outcome).toBe('accepted')
    expect(devices.map(({ memory }) => [memory?.status, memory?.floorBytes])).toEqual([
      ['held', 0],
      ['held', 0],
    ])
    expect(count).toMatchObject({ least: 1, established: false })
  })

  test('nor is more than any card has: somebody else may have the rest', () => {
    const { count, devices } = inTheHost('h200-sxm', 400e9, 2.2e12)
    expect(devices[0]!.memory).toMatchObject({ status: 'held' })
    expect(devices[0]!.memory!.floorBytes).toBeGreaterThan(144e9)
    expect(count).toMatchObject({ least: 1, established: false })
  })
})

test('attack 402: seven B300 as eight, with the memory that they lack in their hosts, are not established as eight', () => {
  const model = catalogue.models.find(({ id }) => id === 'b300')!
  const taken = { ...cardLike(catalogue, 'b300', 0.875), heldBytes: 0.8765 * model.memoryBytes }
  const eight = Array.from({ length: 8 }, () => taken)
  const { count, devices } = judge(syntheticRun({ cards: eight, size: () => 8192 }), eight)
  expect(devices[0]!.memory).toMatchObject({ status: 'proven' })
  expect(count).toMatchObject({ claimed: 8, established: false })
  expect(count.least).toBeLessThanOrEqual(7)
})

describe('attack 144: nothing shown by the instant that counts, and a card named all the same', () => {
  const identities = (run: Run, cards: readonly SyntheticCard[]) =>
    judge(run, cards).devices.map(({ identity }) => identity.model ?? identity.status)

  test('two H100, of which one reads 133 GiB from its host when the other is done: no H200', () => {
    const h100 = cardLike(catalogue, 'h100-sxm')
    const cards = [h100, { ...h100, heldBytes: cardLike(catalogue, 'h200-sxm').heldBytes! }]
    const run = syntheticRun({ cards, size: classesOf(catalogue, 'h100-sxm') })
    expect(identities(retimed(run, isMemory, secondLater), cards)).toEqual(['H100 SXM5 80GB', 'unknown'])
  })

  test('a device that did all of its rounds when the other was done is no card, however it reads', () => {
    const [h200, l4] = [cardLike(catalogue, 'h200-sxm'), cardLike(catalogue, 'l4')]
    const cards = [h200, { ...h200, heldBytes: l4.heldBytes!, bandwidth: l4.bandwidth! }]
    const run = syntheticRun({ cards, size: classesOf(catalogue, 'h200-sxm') })
    expect(identities(retimed(run, isRounds, secondLater), cards)[1]).toBe('unknown')
  })

  test('two that work at once are named, for comparison', () => {
    const cards = [cardLike(catalogue, 'h100-sxm'), cardLike(catalogue, 'h100-sxm')]
    const run = syntheticRun({ cards, size: classesOf(catalogue, 'h100-sxm') })
    expect(identities(run, cards)).toEqual(['H100 SXM5 80GB', 'H100 SXM5 80GB'])
  })
})
