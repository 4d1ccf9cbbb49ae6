import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { webAssembly } from '../../core/engine/webAssembly.ts'
import { HOST_FIELDS } from '../../core/inventory/hostFields.ts'
import { listedCards, readKernelGpus, readPciGpus } from '../gpu/cuda/describeCards.ts'
import { measureDisk } from './measureDisk.ts'
import { measureHost } from './measureHost.ts'
import { type VectorExports, vectorModule } from './vectorModule.ts'
import { floatingModules, whetstoneLoop, whetstoneState } from './whetstone.ts'

const root = mkdtempSync(join(tmpdir(), 'touchstone-host-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const never = new AbortController().signal
const folder = (name: string): string => {
  mkdirSync(join(root, name), { recursive: true })
  return join(root, name)
}

describe('measureHost', () => {
  test('every field it fills is described, positive, and nothing is left on the disk', async () => {
    const diskFolder = folder('disk')
    const facts = await measureHost({ budgetMs: 200, diskFolder, diskBytes: 8 * 1024 * 1024 }, never)
    expect(readdirSync(diskFolder)).toEqual([])
    for (const [name, value] of Object.entries(facts)) {
      expect(Object.keys(HOST_FIELDS)).toContain(name)
      expect(value).toBeGreaterThan(0)
    }
    expect(facts.memoryLimitBytes).toBeLessThanOrEqual(totalmem())
    expect(facts).toHaveProperty('diskWriteOpsPerSec')
  })

  test('Ctrl-C ends it, and the space on the disk is given back', async () => {
    const diskFolder = folder('aborted')
    const interrupt = new AbortController()
    const budget = { folder: diskFolder, budgetMs: 60_000, budgetBytes: 64 * 1024 * 1024 }
    const measuring = measureDisk(budget, interrupt.signal)
    setTimeout(() => interrupt.abort(new Error('interrupted')), 30)
    await expect(measuring).rejects.toThrow('interrupted')
    expect(readdirSync(diskFolder)).toEqual([])
  })

  test('a folder that cannot be written has no disk rates, and the rest stands', async () => {
    const facts = await measureHost({ budgetMs: 50, diskFolder: '/proc', diskBytes: 1 }, never)
    expect(facts).not.toHaveProperty('diskWriteBytesPerSec')
    expect(facts).toHaveProperty('cpuWhetstoneMips')
  })

  test('the vector module computes what it is timed for', async () => {
    const module = await webAssembly.compile(vectorModule())
    const { run } = (await webAssembly.instantiate<VectorExports>(module, {})).exports
    const f = Math.fround
    const chain = (start: number, rounds: number): number => {
      let a = f(start)
      for (let i = 0; i < rounds; i++) a = f(f(a * f(0.999)) + f(0.001))
      return a
    }
    for (const rounds of [1, 2, 1000]) {
      const expected = [2, 3, 4, 5, 6, 7, 8].reduce((sum, start) => f(sum + chain(start, rounds)), chain(1, rounds))
      expect(run(rounds)).toBe(expected)
    }
  })

  test('the Whetstone mix is the same work every time', () => {
    const [one, two] = [whetstoneState(), whetstoneState()]
    whetstoneLoop(one, 4)
    whetstoneLoop(two, 2)
    whetstoneLoop(two, 2)
    expect([one.x, ...one.e]).toEqual([two.x, ...two.e])
    floatingModules(one)
    expect([one.x, ...one.e].every(Number.isFinite)).toBe(true)
  })
})

describe('sources of GPU facts', () => {
  test('cards are read from the kernel module and from the PCI bus, other devices are not', async () => {
    const kernel = folder('gpus/0000:17:00.0')
    const text = 'Model: \t\t NVIDIA H200\nIRQ:   \t\t 421\nGPU UUID: \t GPU-abc\nBus Location: \t 0000:17:00.0\n'
    writeFileSync(join(kernel, 'information'), text)
    expect(await readKernelGpus(join(root, 'gpus'))).toEqual([
      { bus: '0000:17:00.0', uuid: 'GPU-abc', name: 'NVIDIA H200' },
    ])
    const device = (bus: string, vendor: string, kind: string): void => {
      const at = folder(`pci/${bus}`)
      for (const [name, value] of [
        ['vendor', vendor],
        ['class', kind],
        ['device', '0x2335'],
        ['subsystem_device', bus === '0000:17:00.0' ? '0x18be' : ''],
        ['subsystem_vendor', '0x10de'],
      ] as const)
        writeFileSync(join(at, name), `${value}\n`)
    }
    device('0000:17:00.0', '0x10de', '0x030200')
    device('0000:18:00.0', '0x10de', '0x030000')
    device('0000:18:00.1', '0x10de', '0x040300')
    device('0000:00:01.0', '0x8086', '0x030000')
    const cards = (await readPciGpus(join(root, 'pci')))?.toSorted((a, b) => (a.bus < b.bus ? -1 : 1))
    expect(cards?.map(({ bus }) => bus)).toEqual(['0000:17:00.0', '0000:18:00.0'])
    const [gpus, pci, none] = ['gpus', 'pci', 'none'].map((name) => join(root, name))
    expect(await listedCards({ kernel: gpus!, pci: pci! })).toBe('1 x NVIDIA H200')
    expect(await listedCards({ kernel: none!, pci: pci! })).toBe('2 x NVIDIA card')
    expect(await listedCards({ kernel: none!, pci: none! })).toBeNull()
    expect(cards?.map(({ deviceId, subsystemId }) => [deviceId, subsystemId])).toEqual([
      [0x233510de, 0x18be10de],
      [0x233510de, null],
    ])
  })

  test('attack 12: escapes in the kernel file do not reach anybody raw, and a missing source is null', async () => {
    const kernel = folder('evil/0000:17:00.0')
    writeFileSync(join(kernel, 'information'), 'Model: \x1b]0;evil\x07 H200\n')
    expect((await readKernelGpus(join(root, 'evil')))?.[0]?.name).toBe('?]0;evil? H200')
    expect(await readKernelGpus(join(root, 'nowhere'))).toBeNull()
    expect(await readPciGpus(join(root, 'nowhere'))).toBeNull()
  })
})
