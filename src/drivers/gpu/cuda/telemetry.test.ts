import { describe, expect, test } from 'vitest'
import { fakeNvml } from '../../../../test/support/fakeNvml.ts'
import { openTelemetry, throttleNames } from './telemetry.ts'

const PCI = '0000:00:00.0'

describe('openTelemetry', () => {
  test('tells what NVML answers and leaves out what it does not', () => {
    const telemetry = openTelemetry(fakeNvml(), PCI)!
    expect(telemetry.sample()).toEqual({ temperatureC: 40 })
  })

  test('is none for a card NVML does not know', () => {
    expect(openTelemetry(fakeNvml({ nvmlDeviceGetHandleByPciBusId_v2: 6 }), PCI)).toBe(null)
  })

  test('every driver error since the card was opened stays in later samples, each once', () => {
    const nvml = fakeNvml()
    const telemetry = openTelemetry(nvml, PCI)!
    nvml.pending.push(31, 31, 13)
    expect(telemetry.sample()).toMatchObject({ xid: '31 13' })
    nvml.pending.push(79)
    expect(telemetry.sample()).toMatchObject({ xid: '31 13 79' })
    expect(telemetry.sample()).toMatchObject({ xid: '31 13 79' })
  })

  test('a flood of driver errors stays a short text', () => {
    const nvml = fakeNvml()
    const telemetry = openTelemetry(nvml, PCI)!
    nvml.pending.push(...Array.from({ length: 500 }, (_, i) => i))
    expect(telemetry.xids(0)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(nvml.pending.length).toBe(500 - 64)
  })

  test.each(['nvmlEventSetCreate', 'nvmlDeviceRegisterEvents'] as const)(
    'where %s is refused nothing is said of driver errors, and nothing is kept',
    (call) => {
      const nvml = fakeNvml({ [call]: 3 })
      const telemetry = openTelemetry(nvml, PCI)!
      nvml.pending.push(79)
      expect(telemetry.sample()).toEqual({ temperatureC: 40 })
      expect(telemetry.xids(0)).toEqual([])
      expect(nvml.sets).toBe(0)
    },
  )

  test('closing gives the event set back', () => {
    const nvml = fakeNvml()
    openTelemetry(nvml, PCI)!.close()
    expect(nvml.sets).toBe(0)
  })
})

describe('throttleNames', () => {
  test('names every reason that is set, and none that is not', () => {
    expect(throttleNames(0)).toBe('')
    expect(throttleNames(0x4 | 0x40)).toBe('powerLimit thermalHardware')
  })
})
