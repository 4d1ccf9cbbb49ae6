import { beforeAll, expect, test } from 'vitest'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { proven } from '../params/provenance.ts'
import type { Catalogue } from './catalogue.ts'
import { identifyGpu } from './identifyGpu.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

/** What a proof keeps of the bare library, about (§12). */
const PROVEN_SHARE = 0.92

/**
 * Runs of other people's cards that the catalogue does not use: TFLOP/s in fp32, fp16 and bf16 as published in the issues
 * (numbers given) and database.md of github.com/zzc0721/torch-performance-test-data. Memory and bandwidth were not
 * measured there: 93 % of the memory and 86 % of the printed bandwidth are assumed.
 */
test.each<[string, number, number | null, number | null, string]>([
  ['rtx-4090', 51.57, 165.94, 165.71, 'issue 50'],
  ['rtx-4090', 56.01, 172.39, 167.71, 'issue 41'],
  ['rtx-5070', 22.79, 64.89, 63.38, 'issue 149'],
  ['rtx-5070', 22.52, 61.86, 61.6, 'issue 179'],
  ['rtx-4070-super', 22.29, 73.51, 74.34, 'issue 54'],
  ['rtx-4070-ti-super', 33.91, 98.07, 98.21, 'issue 71, overclocked'],
  ['rtx-3080-ti', 24.38, 69.4, 70.34, 'issue 132'],
  ['rtx-5060-ti-16gb', 16.37, 46.84, 46.03, 'issue 134'],
  ['rtx-5060-ti-16gb', 15.85, 45.82, 45.88, 'issue 129'],
  ['rtx-3090', 24.84, 75.88, 76.68, 'database.md'],
  ['rtx-5090', 67.57, 237.63, 242.18, 'database.md'],
  ['p100-pcie-16gb', 8.12, null, null, 'issue 164'],
  ['t4', 4.17, 41.91, null, 'database.md'],
  ['a100-sxm4-80gb', 19.08, 266.04, 266.48, 'database.md, A800'],
])('%s: fp32 %s, fp16 %s, bf16 %s (%s)', (id, fp32, fp16, bf16, _) => {
  const model = modelOf(catalogue, id)
  const printed = model.bandwidth.find((figure) => figure.basis === 'datasheet')!.value
  const identity = identifyGpu(
    proven({
      rates: {
        fp32: fp32 * 1e12 * PROVEN_SHARE,
        ...(fp16 === null ? {} : { fp16: fp16 * 1e12 * PROVEN_SHARE }),
        ...(bf16 === null ? {} : { bf16: bf16 * 1e12 * PROVEN_SHARE }),
      },
      memoryBytes: 0.93 * model.memoryBytes,
      bandwidth: 0.86 * printed,
    }),
    catalogue,
  )
  expect([id, ...model.twins]).toContain(identity.model?.id)
})
