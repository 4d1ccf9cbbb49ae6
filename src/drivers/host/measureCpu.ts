import { webAssembly } from '../../core/engine/webAssembly.ts'
import { bestRate } from './bestRate.ts'
import { FLOP_PER_ROUND, type VectorExports, vectorModule } from './vectorModule.ts'
import { FLOP_PER_LOOP, floatingModules, INSTRUCTIONS_PER_LOOP, whetstoneLoop, whetstoneState } from './whetstone.ts'

/** One core, for about `budgetMs`; other programs on the box slow it down, and the result says what was left for us. */
export async function measureCpu(budgetMs: number, signal: AbortSignal) {
  const state = whetstoneState()
  const module = await webAssembly.compile(vectorModule())
  const { run } = (await webAssembly.instantiate<VectorExports>(module, {})).exports
  let used = 0
  const rateOf = (act: (count: number) => void) => bestRate(act, budgetMs / 3, signal)
  const loops = await rateOf((count) => whetstoneLoop(state, count))
  const floating = await rateOf((count) => {
    for (let i = 0; i < count; i++) floatingModules(state)
  })
  const rounds = await rateOf((count) => {
    used += run(count)
  })
  // Every result ends up here, so that no compiler may leave the work out.
  if (Number.isNaN(used + state.x)) throw new Error('the processor computes nonsense')
  return {
    cpuWhetstoneMips: (loops * INSTRUCTIONS_PER_LOOP) / 1e6,
    cpuWhetstoneMflops: (floating * FLOP_PER_LOOP) / 1e6,
    /** f32 operations a second in 128-bit vectors. */
    cpuVectorFlops: rounds * FLOP_PER_ROUND,
  }
}
