// Loaded into the real prover with --import: the first replica with a number rounds by another chance in its second
// transition, in every run of it alike; the second is gone at once; the third does as the first, and is gone when it is
// asked for a trace. Everything else about them is ours. It runs from its modules and not from its bundle: what is changed
// here is what it uses.
import { register } from 'node:module'

const unbundled = `export const resolve = (to, context, next) => next(to.replace('/bundled/prover.js', '/main/prover.js'), context)`
register(`data:text/javascript,${encodeURIComponent(unbundled)}`)
const flag = process.argv.indexOf('--work')
const number = flag < 0 ? undefined : process.argv[flag + 1]
const ours = (file) => import(new URL(`../../dist/core/work/${file}`, import.meta.url).href)
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
