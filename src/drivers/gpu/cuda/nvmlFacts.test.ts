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
