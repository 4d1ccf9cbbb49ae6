import { expect, test } from 'vitest'
import { judge, provenProduct } from '../../../../../test/support/sumcheckCheats.ts'
import { openFieldEngine } from './openCpuWork.ts'

test("sumchecks by this machine's best kernels and by WebAssembly are the same bytes", async () => {
  const sizes = { rows: 21, columns: 18, k: 1030, block: 8 }
  const [best, wasm] = [await openFieldEngine(), await openFieldEngine({ environment: { TOUCHSTONE_ENGINE: 'wasm' } })]
  const [here, there] = [provenProduct(best, sizes, 5), provenProduct(wasm, sizes, 5)]
  expect(here).toEqual(there)
  expect([judge(best, there), judge(wasm, here)]).toEqual([null, null])
})
