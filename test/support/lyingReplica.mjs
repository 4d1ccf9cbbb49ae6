// Loaded into the real prover with --import: the first replica with a number rounds by another chance in its second
// transition, in every run of it alike; the second is gone at once; the third does as the first, and is gone when it is
// asked for a trace. Everything else about them is ours.
import { ours } from './unbundledProver.mjs'

const flag = process.argv.indexOf('--work')
const number = flag < 0 ? undefined : process.argv[flag + 1]
if (number === '2') process.exit(7)
if (number === '3') (await ours('engineRun.js')).EngineRun.prototype.trace = () => process.exit(8)
if (number === '1' || number === '3') {
  const { EXACT_OPS } = await ours('workOps.js')
  const { run } = EXACT_OPS.quantise
  EXACT_OPS.quantise.run = (kernels, call) => {
    const { key0, transition } = call.numbers
    const isLie = key0 !== undefined && transition === 2
    return run(kernels, isLie ? { ...call, numbers: { ...call.numbers, key0: key0 ^ 1 } } : call)
  }
}
