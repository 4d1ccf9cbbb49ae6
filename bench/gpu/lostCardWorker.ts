/** A card's thread whose second device, in its third series, reads where nothing is: the driver then takes its context. */
import { readFileSync } from 'node:fs'
import { getEnvironmentData, parentPort, workerData } from 'node:worker_threads'
import { createEngine } from '../../src/core/engine/createEngine.ts'
import { Card } from '../../src/drivers/gpu/cuda/card.ts'
import type { CardStart } from '../../src/drivers/gpu/cuda/cardMessages.ts'
import { openCublasLt } from '../../src/drivers/gpu/cuda/cublasLt.ts'
import { loadLibcuda } from '../../src/drivers/gpu/cuda/loadLibcuda.ts'
import { serveCard } from '../../src/drivers/gpu/cuda/serveCard.ts'
import { kernelPath } from '../../src/drivers/system/kernelFiles.ts'

const start = workerData as CardStart
const opened = new Int32Array(getEnvironmentData('opened') as unknown as SharedArrayBuffer)
const LAST_SERIES = 3
const NOWHERE = 0x40n

class DoomedCard extends Card {
  #seriesBegun = 0

  override runSeries(...given: Parameters<Card['runSeries']>): void {
    if (++this.#seriesBegun === LAST_SERIES) this.#readNowhere()
    super.runSeries(...given)
  }

  #readNowhere(): void {
    const { api, stream, kernels } = this.tools
    const kernel = kernels.get('base', 'ts_fold')
    api.launch({ kernel, blocks: [1, 1], threads: 64, stream, arguments: [NOWHERE, NOWHERE, 0n, 0, 64] })
    api.synchronize(stream)
  }
}

await serveCard(parentPort!, start, async () => {
  const engine = await createEngine(new Uint8Array(readFileSync(kernelPath('engine.wasm'))))
  const parts = { api: loadLibcuda(), openLibrary: openCublasLt, engine }
  const { ordinal, context, keepBytes } = start
  const Opened = Atomics.add(opened, 0, 1) === 1 ? DoomedCard : Card
  return new Opened(parts, { ordinal, context, files: {}, keepBytes })
})
