import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { inventoryOf } from '../src/apps/prover/inventoryOf.ts'
import { scoreInput } from '../src/core/schedule/scoreInput.ts'
import { defaultScoreConfig } from '../src/core/score/defaultScoreConfig.ts'
import { scoreBox } from '../src/core/score/scoreBox.ts'
import { BACK_ENDS } from '../src/drivers/gpu/backEnds.ts'
import { openCpuDevice } from '../src/drivers/gpu/cpu/openCpuDevice.ts'
import {
  describeDevices,
  describeLeftOut,
  devicesHelp,
  namedDevices,
  openDevices,
} from '../src/drivers/gpu/openDevices.ts'
import type { BackEnd } from '../src/ports/backEnd.ts'
import type { Device, DeviceFacts } from '../src/ports/device.ts'
import { shippedCatalogue } from './sim/shippedCatalogue.ts'
import { deviceSuite } from './suites/deviceSuite.ts'
import { honestProgram } from './support/inProcessBox.ts'
import { openReferenceDevice } from './support/openReferenceDevice.ts'
import { testEngine } from './support/testEngine.ts'
import { verifyInProcess } from './support/verifyInProcess.ts'

const engine = await testEngine()

type OpenCard = (facts: Pick<DeviceFacts, 'class' | 'backEnd' | 'name' | 'details'>) => Promise<Device>

/** Another vendor, whole: what its folder would hold. Its cards compute as they are told to. */
const toyWith = (openCard: OpenCard): BackEnd => ({
  name: 'toy',
  class: 'gpu',
  open: ({ ordinals = [0, 1] }) =>
    Promise.all(
      ordinals.map((ordinal) =>
        openCard({ class: 'gpu', backEnd: 'toy', name: `Toy ${ordinal}`, details: { ordinal } }),
      ),
    ),
  describe: async (devices) => ({ toyCards: devices.length }),
})
/** In virtual time, so that two runs of it are alike to the last figure. */
const toy = toyWith(async (facts) => openReferenceDevice({ engine, facts }))
/** On a thread, as a driver would. */
const threadedToy = toyWith(async (facts) => {
  const device = await openCpuDevice({ threads: 1 })
  return Object.assign(device, { facts: { ...device.facts, ...facts } })
})
/** The registry with one line more. */
const registry = [...BACK_ENDS, toy]
const cpu = registry.find((one) => one.class === 'cpu')!
const broken = (fault: string): BackEnd => ({
  ...toy,
  name: 'broken',
  open: async () => {
    throw new Error(fault)
  },
  isAbsent: (error) => (error as Error).message === 'absent',
})
const unheard = (fault: unknown) => expect.unreachable(String(fault))
const namesOf = (devices: readonly Device[]) => devices.map(({ facts }) => facts.name)

deviceSuite('a card of another back end', {
  open: async () => (await openDevices('toy:0', unheard, [...BACK_ENDS, threadedToy]))[0]!,
})

describe('another back end is one folder and one line', () => {
  test('it is opened by its name, by the number of a card, and by auto', async () => {
    expect(namesOf(await openDevices('toy', unheard, registry))).toEqual(['Toy 0', 'Toy 1'])
    expect(namesOf(await openDevices('toy:3,toy:0', unheard, registry))).toEqual(['Toy 3', 'Toy 0'])
    expect(namesOf(await openDevices('auto', unheard, [cpu, broken('absent'), toy]))).toEqual(['Toy 0', 'Toy 1'])
    expect(devicesHelp(registry)).toContain('toy (every card), toy:1 (one card)')
  })

  test('auto tells of cards that cannot be opened beside others, and fails where there are no others', async () => {
    const told: unknown[] = []
    const devices = await openDevices('auto', (fault) => told.push(fault), [cpu, broken('busy'), toy])
    expect(namesOf(devices)).toEqual(['Toy 0', 'Toy 1'])
    expect(told).toMatchObject([{ message: 'busy' }])
    await expect(openDevices('auto', unheard, [cpu, broken('busy')])).rejects.toThrow('busy')
  })

  test('cards that were not asked for are listed as left out, those that were opened are not', async () => {
    const listing = [...BACK_ENDS.map(({ listed: _, ...one }) => one), { ...toy, listed: async () => '2 x Toy' }]
    const [processor] = await openDevices('cpu', unheard, listing)
    expect(await describeLeftOut([processor!.facts], listing)).toEqual({ gpuLeftOut: '2 x Toy' })
    const cards = await openDevices('toy', unheard, listing)
    expect(
      await describeLeftOut(
        cards.map(({ facts }) => facts),
        listing,
      ),
    ).toEqual({})
    await processor!.close()
  })

  test('names that nobody has are refused', async () => {
    for (const list of ['', 'rom', 'toy:', 'toy:100', `${cpu.name}:0`, 'toy,rom', 'Toy', ' toy', 'auto,toy'])
      expect(namedDevices(list, registry), list).toBeNull()
    await expect(openDevices('rom', unheard, registry)).rejects.toMatchObject({ detail: { code: 'UNKNOWN_DEVICE' } })
  })

  test('its box is greeted, verified and paid as any box of cards', async () => {
    const catalogue = await shippedCatalogue()
    const run = async (backEnd: string) => {
      const devices = await openDevices('toy', unheard, registry)
      const facts = devices.map((device) => ({ ...device.facts, backEnd }))
      const host = { ...(await describeDevices(facts, registry)) }
      const inventory = inventoryOf({ program: 'touchstone test', devices: facts, host, faults: [] })
      const program = honestProgram({ devices, inventory })
      return verifyInProcess({ program, catalogue, engine })
    }
    const { judgement, inventory } = await run('toy')
    expect(judgement.outcome).toBe('accepted')
    expect(inventory).toMatchObject({ devices: [{ backEnd: 'toy' }, { backEnd: 'toy' }], host: { toyCards: 2 } })
    const earned = scoreInput({ judgement, registered: false, allocated: false })
    const config = defaultScoreConfig(catalogue)
    // Full marks for what these toys do, so that what they are paid is not lost in rounding.
    const reference = { ...config.reference, rates: { ...config.reference.rates, ...earned.gpu?.rates } }
    expect(scoreBox(earned, { ...config, reference }).score).toBeGreaterThan(0)
    expect(earned).toEqual(
      scoreInput({ judgement: (await run('unheardof')).judgement, registered: false, allocated: false }),
    )
  })
})

/** What is left of a source without its comments. */
const codeOf = (file: string): string =>
  readFileSync(file, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\/\/.*$/gm, '')

test('nothing but its own folder and the registry names a back end of cards', () => {
  const root = fileURLToPath(new URL('../src/', import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test)\.ts$/.test(file))
  const allowed = ['drivers/gpu/backEnds.ts']
  // The format of version-1 inventories, which is fixed.
  const version1 = 'core/inventory/inventory.ts'
  for (const { name } of BACK_ENDS.filter((one) => one.class === 'gpu')) {
    const naming = files.filter((file) => codeOf(`${root}${file}`).toLowerCase().includes(name))
    expect(naming.filter((file) => file.startsWith(`drivers/gpu/${name}/`)).length).toBeGreaterThan(0)
    expect(naming.filter((file) => !file.startsWith(`drivers/gpu/${name}/`)).sort()).toEqual([version1, ...allowed])
  }
})
