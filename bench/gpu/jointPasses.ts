/** What it costs a card to wait for others between two passes (§7): node jointPasses.js, alone and joint in turns, one JSON line. */
import { JointPasses } from '../../src/core/proof/jointPasses.ts'
import { Stop } from '../../src/drivers/gpu/cuda/stop.ts'
import { round } from './figures.ts'
import { openCard } from './openCard.ts'

const SIDE = 16384
const TILES = (SIDE / 32) ** 2
const PASSES = 34
const PAIRS = 5

const { card } = await openCard()
const kept = Math.floor((0.95 * card.tools.api.freeMemory().totalBytes) / (TILES * (2048 + 16)))
card.fill({ m: SIDE, n: SIDE, k: 32768, kept, seed: crypto.getRandomValues(new Uint8Array(32)) }, () => {}, new Stop())

/** Bytes a second. With nobody else to wait for, what is left is the way between two passes. */
function passesPerSecond(isJoint: boolean): number {
  const { shared } = new JointPasses(1)
  const joint = isJoint ? { joint: { place: 0, devices: 1, shared } } : {}
  const start = crypto.getRandomValues(new Uint8Array(32))
  const began = performance.now()
  card.runPasses({ passes: PASSES, start, ...joint }, () => {}, new Stop())
  return (2 * 2048 * TILES * kept * PASSES) / ((performance.now() - began) / 1000)
}

passesPerSecond(false)
const pairs = Array.from({ length: PAIRS }, (_, pair) => {
  const order = pair % 2 === 0 ? [false, true] : [true, false]
  const shown = new Map(order.map((isJoint) => [isJoint, passesPerSecond(isJoint)]))
  return {
    alone: round(shown.get(false)! / 1e9, 1),
    joint: round(shown.get(true)! / 1e9, 1),
    ratio: round(shown.get(true)! / shown.get(false)!, 4),
  }
})
card.close()
console.log(JSON.stringify({ command: 'bench/gpu/jointPasses.ts', kept, passes: PASSES, unit: 'GB/s', pairs }))
