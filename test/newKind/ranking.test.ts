import { expect, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { checkReceipt } from '../../src/core/work/checkReceipt.ts'
import { EngineRun } from '../../src/core/work/engineRun.ts'
import { proveWork } from '../../src/core/work/proveWork.ts'
import { patchRunner } from '../../src/core/work/runPatch.ts'
import { openWork } from '../../src/core/work/work.ts'
import { hasherOn } from '../../src/core/work/workEngine.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { encodeSpec } from '../../src/core/work/workSpec.ts'
import { openExactEngine } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import { ranking } from './ranking.ts'

const pages = 40
const transitions = 24
/** Every page points to its two neighbours, and all point to page 7. */
const isLink = (to: number, from: number) => to === 7 || [1, pages - 1].includes((to - from + pages) % pages)
const links = Uint8Array.from({ length: pages ** 2 }, (_, i) => (isLink(Math.floor(i / pages), i % pages) ? 1 : 0))

const hasher = hasherOn(await openExactEngine())
const [shape] = ranking.given({ pages }).values()
const inputs = [{ name: 'links', uri: '', root: toHex(hasher.root(shape!, links)) }]
const text = encodeSpec({ kind: 'ranking', version: 1, parameters: { pages }, inputs, transitions, interval: 2 })
const order = { text, orderId: sha256(Uint8Array.of(1)), seed: sha256(Uint8Array.of(2)) }
const work = openWork({ ranking }, EXACT_OPS, order)

/** Does the work, and shows what is drawn. */
async function worked() {
  const run = new EngineRun(await openExactEngine(), work, new Map([['links', links]]), hasher)
  const { root: firstRoot } = run.advance(-1)
  run.keep(-1)
  const marks = work.ends.map((_, segment) => run.advance(segment))
  const ranks = run.read('ranks')
  const proof = await proveWork(work, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draw)))
  return { ranks, receipt: { ...proof, workId: work.workId, firstRoot, marks } }
}

test('the page that all point to ranks first, and anyone can check that it was computed', async () => {
  const { ranks, receipt } = await worked()
  expect(ranks.indexOf(127)).toBe(7)
  const runPatch = patchRunner(await openExactEngine(), EXACT_OPS)
  const { problem, figures } = checkReceipt(work, receipt, runPatch)
  expect(problem).toBeNull()
  // After ten transitions the ranks stand still: who says a state again is not credited for it (attack 226).
  expect(figures).toMatchObject({ drawnSegments: 9, liveShare: 5 / 12 })
  const changed = receipt.marks.map((mark, i) => (i === 3 ? { ...mark, root: sha256(mark.root) } : mark))
  expect(checkReceipt(work, { ...receipt, marks: changed }, runPatch).problem).not.toBeNull()
})
