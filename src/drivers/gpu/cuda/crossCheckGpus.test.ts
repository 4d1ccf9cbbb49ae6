import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crossCheckGpus, type DriverGpu, type KernelGpu, normalBus, type PciGpu } from './crossCheckGpus.ts'

const busOf = (i: number): string => `0000:${i.toString(16).padStart(2, '0')}:00.0`
const driverOf = (i: number): DriverGpu => ({
  bus: `0000${busOf(i)}`.toUpperCase(),
  uuid: `GPU-${i}`,
  name: 'NVIDIA H200',
  nvmlBus: busOf(i).toUpperCase(),
  deviceId: 0x233510de,
  subsystemId: 0x18be10de,
})
const kernelOf = (i: number): KernelGpu => ({ bus: busOf(i), uuid: `GPU-${i}`, name: 'NVIDIA H200' })
const pciOf = (i: number): PciGpu => ({ bus: busOf(i), deviceId: 0x233510de, subsystemId: 0x18be10de })
const codes = (...args: Parameters<typeof crossCheckGpus>) =>
  crossCheckGpus(...args).disagreements.map(({ code }) => code)

describe('crossCheckGpus', () => {
  test('property: the same cards in any order and spelling agree', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(255), { maxLength: 16 }), (cards) => {
        const check = crossCheckGpus(cards.map(driverOf), [...cards].reverse().map(kernelOf), cards.map(pciOf))
        expect(check).toMatchObject({ hidden: 0, disagreements: [] })
      }),
    )
  })

  test('property: a card that only the driver knows is always noticed', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(255), { minLength: 1, maxLength: 16 }), (cards) => {
        const others = cards.slice(1)
        expect(codes(cards.map(driverOf), others.map(kernelOf), others.map(pciOf))).toEqual([
          'NOT_IN_KERNEL',
          'NOT_ON_PCI',
        ])
      }),
    )
  })

  test('attacks 35 and 54: one card listed twice is noticed, by its place and by its name', () => {
    expect(codes([driverOf(1), driverOf(1)], [kernelOf(1)], [pciOf(1)])).toEqual(['BUS_TWICE', 'UUID_TWICE'])
    expect(codes([driverOf(1), { ...driverOf(2), uuid: 'GPU-1' }], null, null)).toEqual(['UUID_TWICE'])
  })

  test('attack 54: a dressed-up name, another chip or another UUID is noticed', () => {
    const dressed = { ...driverOf(1), name: 'NVIDIA H100' }
    expect(crossCheckGpus([dressed], [kernelOf(1)], [pciOf(1)]).disagreements).toEqual([
      { code: 'NAME_DIFFERS', bus: busOf(1) },
    ])
    expect(codes([driverOf(1)], [kernelOf(1)], [{ ...pciOf(1), deviceId: 0x1eb810de }])).toEqual(['DEVICE_ID_DIFFERS'])
    expect(crossCheckGpus([driverOf(1)], null, [{ ...pciOf(1), subsystemId: 0x1 }]).disagreements).toEqual([
      { code: 'SUBSYSTEM_DIFFERS', bus: busOf(1) },
    ])
    expect(codes([{ ...driverOf(1), nvmlBus: busOf(2) }], [kernelOf(1)], [pciOf(1)])).toEqual(['NVML_BUS_DIFFERS'])
    expect(codes([driverOf(1)], [kernelOf(1), kernelOf(2)], [pciOf(1)])).toEqual(['NOT_ON_PCI'])
    expect(codes([driverOf(1)], [{ ...kernelOf(1), uuid: 'GPU-9' }], null)).toEqual(['UUID_DIFFERS'])
    expect(codes([{ ...driverOf(1), bus: 'nowhere' }], [], [])).toEqual(['ODD_BUS'])
  })

  test('behavior: what a source does not know contradicts nothing', () => {
    const fresh = { ...kernelOf(1), uuid: 'GPU-????????-????-????-????-????????????' }
    expect(codes([driverOf(1)], [fresh], [pciOf(1)])).toEqual([])
    expect(
      codes(
        [{ ...driverOf(1), name: 'H200', nvmlBus: null, deviceId: null, subsystemId: null }],
        [kernelOf(1)],
        [pciOf(1)],
      ),
    ).toEqual([])
    expect(codes([driverOf(1)], [kernelOf(1)], [{ ...pciOf(1), subsystemId: null }])).toEqual([])
    expect(crossCheckGpus([driverOf(1)], null, null)).toMatchObject({ sources: ['driver'], disagreements: [] })
    expect(crossCheckGpus([driverOf(1)], [kernelOf(1), kernelOf(2)], [pciOf(1), pciOf(2)])).toMatchObject({ hidden: 1 })
  })

  test('a place on a bus has one spelling', () => {
    expect(normalBus('00000000:AF:00.0')).toBe('0000:af:00.0')
    expect(normalBus('0001:17:00.0')).toBe('0001:17:00.0')
    expect(['', '17:00.0', '0000:17:00', '../etc'].map(normalBus)).toEqual([null, null, null, null])
  })
})
