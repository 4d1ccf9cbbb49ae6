// Loaded into the real prover with --import: of one state it says figures that are not those of it, and its states are right.
import { ours } from './unbundledProver.mjs'

if (process.argv.includes('--work')) {
  const { EngineRun } = await ours('engineRun.js')
  const { advance } = EngineRun.prototype
  EngineRun.prototype.advance = function (segment) {
    const mark = advance.call(this, segment)
    const isLie = segment === Number(process.env.LYING_SEGMENT)
    return isLie ? { ...mark, statistics: mark.statistics.map((bits) => bits ^ 1) } : mark
  }
}
