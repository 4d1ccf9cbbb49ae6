import { expect, test } from 'vitest'
import { nativeLibraries } from '../../../test/support/nativeLibraries.ts'
import { randomTiles, sameWords } from '../../../test/support/randomTiles.ts'
import { testEngine } from '../../../test/support/testEngine.ts'
import { ENGINE_BYTES, engineOn } from '../../core/engine/engineOn.ts'
import { MAX_K } from '../../core/params/constants.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'

test.each(PRECISION_NAMES)(
  '10,000 random tiles of %s are the same in every build of the kernels',
  async (precision) => {
    const wasm = await testEngine()
    const engines = (await nativeLibraries()).map(({ native }) => {
      const memory = new Uint8Array(ENGINE_BYTES)
      return engineOn(native.on(memory), memory.buffer, 0)
    })
    const requests = [...randomTiles(precision, 9_900, 4096), ...randomTiles(precision, 100, MAX_K)]
    const differing = requests.filter((request) => {
      const tile = wasm.tile(request)
      return engines.some((engine) => !sameWords(engine.tile(request), tile))
    })
    expect(differing).toEqual([])
  },
)
