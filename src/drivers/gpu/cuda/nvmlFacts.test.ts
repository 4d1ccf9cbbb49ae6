import { expect, test } from 'vitest'
import { fakeNvml } from '../../../../test/support/fakeNvml.ts'
import { nvmlFacts } from './nvmlFacts.ts'

test('tells driver, place, chip and board as NVML spells them, and leaves out what NVML does not tell', () => {
  expect(nvmlFacts(fakeNvml(), '0000:17:00.0')).toEqual({
    driver: '580.1',
    nvmlPci: '00000000:17:00.0',
    pciDeviceId: '0x233510de',
    pciSubsystemId: '0x18be10de',
  })
  for (const call of ['nvmlDeviceGetHandleByPciBusId_v2', 'nvmlDeviceGetPciInfo_v3'] as const)
    expect(nvmlFacts(fakeNvml({ [call]: 3 }), '0000:17:00.0')).toEqual({ driver: '580.1' })
  expect(nvmlFacts(fakeNvml({ nvmlSystemGetDriverVersion: 3 }), '0000:17:00.0')).not.toHaveProperty('driver')
})

test('tells how a card is set up and worn where NVML does', () => {
  const tell =
    (...values: number[]) =>
    (_: bigint, ...out: Uint32Array[]) => {
      for (const [i, value] of values.entries()) out[i]![0] = value
      return 0
    }
  const nvml = Object.assign(fakeNvml(), {
    nvmlDeviceGetMigMode: tell(1, 0),
    nvmlDeviceGetEccMode: tell(0, 1),
    nvmlDeviceGetMaxPcieLinkWidth: tell(16),
    nvmlDeviceGetMaxPcieLinkGeneration: tell(5),
    nvmlDeviceGetVirtualizationMode: tell(2),
    nvmlDeviceGetRemappedRows: tell(1, 2, 0, 1),
  })
  expect(nvmlFacts(nvml, '0000:17:00.0')).toMatchObject({
    mig: true,
    eccMode: 'off',
    pcieMaxWidth: 16,
    pcieMaxGeneration: 5,
    virtualization: 'vGPU',
    remappedRows: 3,
    remapFailed: true,
  })
})
