import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Precision } from '../../src/core/params/precision.ts'
import type { Card } from '../../src/drivers/gpu/cuda/card.ts'
import { runSeries } from '../../src/drivers/gpu/cuda/series.ts'
import { Stop } from '../../src/drivers/gpu/cuda/stop.ts'
import type { Row } from './ratios.ts'
import type { TileJob } from './tileWorker.ts'

type Prints = readonly (readonly [bigint, bigint])[]

/** CPU engines in threads of their own, kept for all precisions. */
export class TileEngines {
  readonly #workers = Array.from(
    { length: Math.max(1, availableParallelism() - 1) },
    () => new Worker(new URL('./tileWorker.js', import.meta.url)),
  )

  async prints(job: TileJob): Promise<Prints> {
    const share = Math.ceil(job.tiles.length / this.#workers.length)
    const parts = this.#workers.map((worker, i) => {
      const tiles = job.tiles.slice(i * share, (i + 1) * share)
      return new Promise<Prints>((resolve, reject) => {
        worker.once('message', resolve)
        worker.once('error', reject)
        worker.postMessage({ ...job, tiles })
      })
    })
    return (await Promise.all(parts)).flat()
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}

/** Random tiles of one large round on the card against the CPU: 1024 elements each, by both sums of §5. */
export async function exactTiles(
  card: Card,
  engines: TileEngines,
  shape: { precision: Precision; side: number; k: number; count: number },
): Promise<Row> {
  const { precision, side, k, count } = shape
  const plan = card.plan({ kind: 'rounds', precision, m: side, n: side, k, rounds: 1 })
  const seed = crypto.getRandomValues(new Uint8Array(32))
  runSeries(card.tools, plan, { seed, rounds: 1 }, () => {}, new Stop())
  const columns = side / 32
  const prints = card.tools.api.download(plan.prints, 16 * columns * columns)
  const onCard = new BigUint64Array(prints.buffer)
  const drawn = crypto.getRandomValues(new Uint32Array(count))
  const tiles = [...drawn].map((value) => value % (columns * columns))
  const onCpu = await engines.prints({ seed, precision, k, columns, tiles })
  const wrong = tiles.filter((tile, i) => onCard[2 * tile] !== onCpu[i]![0] || onCard[2 * tile + 1] !== onCpu[i]![1])
  return {
    what: `tiles that differ from the CPU, ${precision}, n = ${side}, k = ${k}`,
    target: '0',
    value: wrong.length,
    met: wrong.length === 0,
    details: { tiles: count, elements: 1024 * count, product: plan.product.by },
  }
}
