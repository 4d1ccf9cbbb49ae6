// Loaded into the real prover with --import: it says of one segment that it has no result, and does not do it.
import { ours } from './unbundledProver.mjs'

if (process.argv.includes('--work')) {
  const { EngineRun } = await ours('engineRun.js')
  const { WorkRefusal } = await ours('refusals.js')
  const { advance } = EngineRun.prototype
  const refused = Number(process.env.REFUSED_SEGMENT)
  EngineRun.prototype.advance = function (segment) {
    if (segment === refused) throw new WorkRefusal('FAULT', 'so it is')
    return advance.call(this, segment)
  }
}
