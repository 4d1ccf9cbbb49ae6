import { beforeAll, describe, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { honestProgram, type ProverProgram, tampered } from '../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../test/support/openReferenceDevice.ts'
import { problemOf } from '../../../test/support/problemOf.ts'
import { syntheticRun } from '../../../test/support/syntheticRun.ts'
import { outcomeOf, TINY, verifyInProcess } from '../../../test/support/verifyInProcess.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { decodeInventory, encodeInventory, type OwnInventory } from '../../core/inventory/inventory.ts'
import { PRESETS } from '../../core/params/presets.ts'
import type { Part } from '../../core/proof/partKinds.ts'
import { referenceEngine } from '../../core/proof/referenceEngine.ts'
import type { PartEvidence } from '../../core/proof/verifyPart.ts'
import type { Answer } from '../../core/wire/messages.ts'
import { fault } from '../../drivers/gpu/cuda/faults.ts'
import type { LeafPosition, OnRoot, SeriesTask } from '../../ports/device.ts'
import { type Ask, askOf } from './askOf.ts'
import { type Asking, BoxRun } from './boxRun.ts'
import type { Conducted } from './exchange.ts'
import type { Greeting, Line } from './greetProver.ts'
import type { VerifyOptions } from './verifyBox.ts'

type When = 'prepare' | 'first root' | 'second part' | 'opening' | 'never'

const lost = (name: string) => fault('GPU_LOST', { what: `${name}: the card stopped working`, mend: 'Reset the card.' })

/** A card that fails at a given moment, and keeps count of what was asked of it. */
class Failing extends ReferenceDevice {
  readonly when: When
  seriesBegun = 0
  releases = 0

  constructor(name: string, when: When) {
    super({ facts: { name } })
    this.when = when
  }

  async prepare(): Promise<void> {
    if (this.when === 'prepare') throw lost(this.facts.name)
  }

  override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    this.seriesBegun++
    const failing = this.when === 'first root' || (this.when === 'second part' && this.seriesBegun === 2)
    const heard = (root: Uint8Array) => {
      onRoot(root)
      if (failing) throw lost(this.facts.name)
    }
    await super.runSeries(task, heard, signal)
  }

  override async openSeries(asked: readonly LeafPosition[], signal: AbortSignal): Promise<Uint8Array> {
    if (this.when === 'opening') throw lost(this.facts.name)
    return await super.openSeries(asked, signal)
  }

  override async release(): Promise<void> {
    this.releases++
    if (this.when !== 'never') throw lost(this.facts.name)
    await super.release()
  }
}

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

const cards = (...when: When[]) => when.map((moment, i) => new Failing(`card ${i} (Test)`, moment))
const verify = (program: ProverProgram, options: Partial<VerifyOptions> = {}) =>
  verifyInProcess({ program, catalogue, options: { precisions: ['int8', 'bf16'], ...options } })

test('attack 496: more openings than a certificate can hold are refused, however many devices a box says it has', async () => {
  const asked = (count: number, openings: number) =>
    verify(honestProgram({ devices: cards(...Array<When>(count).fill('never')) }), { openings })
  await expect(asked(32, 129)).rejects.toThrow('129 openings of 32 devices')
  await expect(asked(1, 4096)).resolves.toMatchObject({ judgement: { outcome: 'accepted' } })
})

describe('a card that fails', () => {
  test.each(['prepare', 'first root', 'second part'] as const)(
    'at %s leaves the others a verdict of their own, which names it, and a certificate that holds',
    async (when) => {
      const devices = cards('never', when, 'never')
      const { judgement, faults, inventory, certificate } = await verify(honestProgram({ devices }))
      expect(judgement).toMatchObject({ outcome: 'accepted', count: { claimed: 2 } })
      expect(inventory.devices.map(({ name }) => name)).toEqual(['card 0 (Test)', 'card 2 (Test)'])
      expect(faults).toEqual([{ code: 'GPU_LOST', text: 'card 1 (Test): the card stopped working. Reset the card.' }])
      expect(await problemOf(certificate, { engine: referenceEngine, catalogue })).toBe(null)
      const { payload } = JSON.parse(certificate)
      expect(JSON.parse(Buffer.from(payload, 'base64').toString()).predicate.claims.faults).toEqual(faults)
      expect(devices.every(({ releases }) => releases > 0)).toBe(true)
    },
  )

  test('the first of two is replaced in every number by the second', async () => {
    const { judgement, inventory } = await verify(honestProgram({ devices: cards('first root', 'never') }))
    expect(judgement).toMatchObject({ outcome: 'accepted', devices: [{ device: 0 }], scaling: null })
    expect(inventory.devices.map(({ name }) => name)).toEqual(['card 1 (Test)'])
  })

  test('alone ends the run with its reason and its words', async () => {
    const { judgement, faults } = await verify(honestProgram({ devices: cards('first root') }))
    expect(judgement.reason).toEqual({ code: 'REFUSED', part: 0, expected: 'roots', got: 'GPU_LOST' })
    expect(faults).toMatchObject([{ code: 'GPU_LOST' }])
  })

  test('alone before the clock is a fault in its own words', async () => {
    await expect(verify(honestProgram({ devices: cards('prepare') }))).rejects.toMatchObject({
      detail: { code: 'PROVER_FAULT', prover: 'GPU_LOST' },
      message: expect.stringContaining('card 0 (Test): the card stopped working. Reset the card.'),
    })
  })

  test('attack 57: once its nonce is out the whole box is rejected, and nothing begins anew', async () => {
    const devices = cards('never', 'opening')
    const { judgement, faults } = await verify(honestProgram({ devices }))
    expect(judgement.reason).toEqual({ code: 'REFUSED', part: 0, got: 'GPU_LOST' })
    expect(faults).toEqual([])
    expect(devices[0]!.seriesBegun).toBe(1)
  })

  test('attack 64: again and again is not followed for ever', async () => {
    const devices = cards('first root', 'first root', 'first root', 'first root', 'first root', 'never')
    const running = verify(honestProgram({ devices }))
    expect(await outcomeOf(running)).toBe('REFUSED')
    expect((await running).faults).toHaveLength(4)
  })

  test('and is offered again is believed nothing', async () => {
    const offers: Answer[] = []
    const program = tampered(honestProgram({ devices: cards('never', 'first root') }), {
      onAnswer: async (answer, line) => {
        if (answer.type === 'inventory') offers.push(answer)
        await line.answer(answer.type === 'inventory' ? offers[0]! : answer)
      },
    })
    expect(await outcomeOf(verify(program))).toBe('REFUSED')
    expect(offers).toHaveLength(2)
  })

  test('attack 66: and leaves others that say less of themselves than before is believed nothing', async () => {
    for (const change of [{ precisions: ['int8' as const] }, { freeBytes: 1 }, { name: 'another card' }]) {
      let offers = 0
      const program = tampered(honestProgram({ devices: cards('never', 'first root', 'never') }), {
        onAnswer: async (answer, line) => {
          if (answer.type !== 'inventory' || ++offers === 1) return await line.answer(answer)
          await line.answer({ ...answer, inventory: withEach(answer.inventory, change) })
        },
      })
      expect(await outcomeOf(verify(program)), JSON.stringify(change)).toBe('REFUSED')
    }
  })

  test.each(['LEASED', 'NO_MEMORY'])(
    'attack 61: and then says %s is rejected for giving up after the clock had begun to run',
    async (code) => {
      let challenges = 0
      const program = tampered(honestProgram({ devices: cards('never', 'second part', 'never') }), {
        onOrder: async (order, line) => {
          if (order.type === 'challenge' && ++challenges === 2)
            await line.answer({ type: 'fault', code, text: 'later' })
          else await line.order(order)
        },
      })
      const { judgement, faults, certificate } = await verify(program)
      expect(judgement).toMatchObject({ outcome: 'rejected', reason: { code: 'REFUSED', part: 1, got: 'GPU_LOST' } })
      expect(faults.map((fault) => fault.code)).toEqual(['GPU_LOST', code])
      expect(certificate).not.toBe('')
    },
  )

  test('attack 61: and then goes without a word, or offers nothing, is rejected likewise', async () => {
    for (const second of ['silence', 'no precision']) {
      let offers = 0
      const program = tampered(honestProgram({ devices: cards('never', 'second part', 'never') }), {
        onAnswer: async (answer, line) => {
          if (answer.type === 'inventory' && ++offers === 2 && second === 'no precision')
            await line.answer({ ...answer, inventory: withEach(answer.inventory, { precisions: [] }) })
          else if (answer.type === 'ready' && offers === 2) line.hangUp()
          else await line.answer(answer)
        },
      })
      expect(await outcomeOf(verify(program)), second).toBe('REFUSED')
    }
  })
})

function withEach(bytes: Uint8Array, change: Partial<OwnInventory['devices'][number]>): Uint8Array {
  const inventory = decodeInventory(bytes)
  return encodeInventory({ ...inventory, devices: inventory.devices.map((device) => ({ ...device, ...change })) })
}

describe('attack 476: slow in the calibrations alone, to be asked for seconds where a minute was wanted', () => {
  const card = { rates: { int8: 1.2e15, bf16: 7e14 }, heldBytes: 140e9, bandwidth: 4.2e12 }
  const run = syntheticRun({ cards: [card], size: () => 32768 })
  const afterRun = async (asks: Partial<Ask>, plan: readonly Part[] = run.challenge.parts) => {
    const options = askOf({ preset: PRESETS.mainnet, ...asks }, 'touchstone test')
    const asked = new BoxRun({ options, line: {} as Line, verify: async () => null, onStep: () => {} })
    const greeting = { roundTripSeconds: 0.001, inventory: {} } as Partial<Greeting> as Greeting
    const conducted = { ...run, rejected: null, gaveUp: null } as Partial<Conducted> as Conducted
    return await asked.after({ at: 'run', greeting, plan } as Partial<Asking> as Asking, conducted)
  }

  test('it is asked again, for as long as was wanted', async () => {
    expect(await afterRun({ partSeconds: 3 })).toMatchObject({ at: 'over' })
    const state = await afterRun({ partSeconds: 60 })
    expect(state).toMatchObject({ at: 'again' })
    expect((state as Asking).plan[0]!.rounds).toBeGreaterThan(20 * run.challenge.parts[0]!.rounds)
  })

  test('but not where it is asked for as many rounds as any already', async () => {
    const most = run.challenge.parts.map((part) => ({ ...part, rounds: 2 ** 15 }))
    expect(await afterRun({ partSeconds: 60 }, most)).toMatchObject({ at: 'over' })
  })

  test('attack 485: so it is where the run is insecure, by options or by its preset', async () => {
    for (const asks of [{ bind: false }, { preset: PRESETS.devnet }] as const) {
      expect(await afterRun({ ...asks, partSeconds: 3 })).toMatchObject({ at: 'over' })
      expect(await afterRun({ ...asks, partSeconds: 60 })).toMatchObject({ at: 'again' })
    }
  })
})

test('attack 72: a calibration that was not computed is rejected for that, though its prover gave up in it', async () => {
  const forged = { code: 'OPENING_DOES_NOT_REACH_ROOT', part: 0 } as const
  const greeting = { inventory: { devices: [{}, {}] } as never } as Partial<Greeting> as Greeting
  const line = { signal: new AbortController().signal } as Line
  const run = new BoxRun({ options: TINY, line, verify: async () => forged, onStep: () => {} })
  const rejected = { code: 'REFUSED', part: 1, expected: 'roots', got: 'GPU_LOST' } as const
  const parts = [{} as PartEvidence]
  const conducted = { rejected, gaveUp: { code: 'GPU_LOST', text: '' }, parts } as Partial<Conducted> as Conducted
  const state = await run.after({ at: 'sizing', greeting } as Asking, conducted)
  expect(state).toMatchObject({ at: 'over', done: { rejected: { code: forged.code }, gaveUp: null, parts: [] } })
  expect(run.faults).toEqual([])
})
