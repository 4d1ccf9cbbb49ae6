import { describe, expect, test } from 'vitest'
import { PRESETS } from '../../core/params/presets.ts'
import { type Ask, askOf } from './askOf.ts'

const ask = (over: Partial<Ask>) => askOf({ preset: PRESETS.mainnet, ...over }, 'touchstone test')

describe('askOf', () => {
  test('a preset asks for what it says', () => {
    for (const preset of [PRESETS.tiny, PRESETS.devnet, PRESETS.mainnet])
      expect(ask({ preset })).toMatchObject({
        preset,
        openings: preset.openings,
        partSeconds: preset.partSeconds,
        sustainedSeconds: preset.sustainedSeconds,
      })
  })

  test.each([
    { openings: 127 },
    { partSeconds: 2.9 },
    { duration: 19 },
    { size: 1024 },
    { precisions: ['int8', 'fp8', 'bf16', 'fp16'] as const },
    { memory: false },
    { bind: false },
  ])('attack 68: mainnet with %j is custom', (less) => {
    expect(ask(less as Partial<Ask>).preset.name).toBe('custom')
  })

  test('more than a preset asks for is asked for under its name', () => {
    expect(ask({ openings: 256, partSeconds: 5, duration: 60 }).preset.name).toBe('mainnet')
    const devnet = ask({ preset: PRESETS.devnet, partSeconds: 5, size: 512 })
    expect(devnet).toMatchObject({ preset: { name: 'devnet' }, partSeconds: 5, maxSize: 512 })
  })

  test.each([{ partSeconds: 1 }, { duration: 60 }])(
    'attack 485: tiny with %j, which would do nothing, is refused',
    (times) => {
      const read = () => ask({ preset: PRESETS.tiny, ...times })
      expect(read).toThrow(
        /^--(part-seconds|duration) asks for seconds, and the preset tiny has a fixed number of rounds/,
      )
      expect(read).toThrow(expect.objectContaining({ blame: 'user' }))
    },
  )

  test('a size that a preset has anyway, or passes, is refused: it would do nothing', () => {
    expect(() => ask({ preset: PRESETS.tiny, size: 64 })).toThrow('--size 64 would do nothing')
    expect(() => ask({ preset: PRESETS.devnet, size: 16384 })).toThrow('the preset devnet asks for 8192 at most')
  })

  test.each([
    ['devnet', { partSeconds: 1 }, '--part-seconds 1 asks for less than the preset devnet, which has 3'],
    ['devnet', { openings: 31 }, '--openings 31 asks for less than the preset devnet, which has 32'],
    ['tiny', { openings: 1 }, '--openings 1 asks for less than the preset tiny, which has 8'],
  ] as const)('%s with %j, by which no certificate could be judged, is refused', (name, less, sentence) => {
    const read = () => ask({ preset: PRESETS[name], ...less })
    expect(read).toThrow(sentence)
    expect(read).toThrow(
      expect.objectContaining({ blame: 'user', detail: expect.objectContaining({ code: 'BELOW_PRESET' }) }),
    )
  })
})
