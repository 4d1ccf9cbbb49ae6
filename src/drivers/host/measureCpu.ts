import { setImmediate as breathe } from 'node:timers/promises'
import { webAssembly } from '../../core/engine/webAssembly.ts'
import { FLOP_PER_ROUND, type VectorExports, vectorModule } from './vectorModule.ts'
import { FLOP_PER_LOOP, floatingModules, INSTRUCTIONS_PER_LOOP, whetstoneLoop, whetstoneState } from './whetstone.ts'

export interface CpuMeasure {
  readonly whetstoneMips: number
  readonly whetstoneMflops: number
  /** f32 operations a second in 128-bit vectors. */
  readonly vectorFlops: number
}

/** One core, for about `budgetMs`; other programs on the box slow it down, and the result says what was left for us. */
export async function measureCpu(budgetMs: number, signal: AbortSignal): Promise<CpuMeasure> {
  const state = whetstoneState()
  const third = budgetMs / 3
  const loops = await rateOf((count) => whetstoneLoop(state, count), third, signal)
  const floating = await rateOf(
    (count) => {
      for (let i = 0; i < count; i++) floatingModules(state)
    },
    third,
    signal,
  )
  const module = await webAssembly.compile(vectorModule())
  const { run } = (await webAssembly.instantiate<VectorExports>(module, {})).exports
  let used = 0
  const rounds = await rateOf(
    (count) => {
      used += run(count)
    },
    third,
    signal,
  )
  // Every result ends up here, so that no compiler may leave the work out.
  if (Number.isNaN(used + state.x)) throw new Error('the processor computes nonsense')
  return {
    whetstoneMips: (loops * INSTRUCTIONS_PER_LOOP) / 1e6,
    whetstoneMflops: (floating * FLOP_PER_LOOP) / 1e6,
    vectorFlops: rounds * FLOP_PER_ROUND,
  }
}

/** The best of several slices of about 10 ms each, so that a pause of the machine does not count as its speed. */
async function rateOf(act: (count: number) => void, budgetMs: number, signal: AbortSignal): Promise<number> {
  let [count, best] = [1, 0]
  const end = performance.now() + budgetMs
  while (performance.now() < end || best === 0) {
    signal.throwIfAborted()
    const began = performance.now()
    act(count)
    const tookMs = performance.now() - began
    if (tookMs < 5) count *= 2
    else best = Math.max(best, (1000 * count) / tookMs)
    await breathe()
  }
  return best
}
