// Loaded into the real prover with --import: the replica of this number rounds by another chance in its second transition,
// in every run of it alike, and the next one is gone at once. Everything else about them is ours. It runs from its modules and not from its bundle: what is
// changed here is what it uses.
import { register } from 'node:module'

const unbundled = `export const resolve = (to, context, next) => next(to.replace('/bundled/prover.js', '/main/prover.js'), context)`
register(`data:text/javascript,${encodeURIComponent(unbundled)}`)
const flag = process.argv.indexOf('--work')
if (flag > 0 && process.argv[flag + 1] === '2') process.exit(7)
if (flag > 0 && process.argv[flag + 1] === '1') {
  const { EXACT_OPS } = await import(new URL('../../dist/core/work/workOps.js', import.meta.url).href)
  const { run } = EXACT_OPS.quantise
  EXACT_OPS.quantise.run = (kernels, call) => {
    const { key0, transition } = call.numbers
    const isLie = key0 !== undefined && transition === 2
    return run(kernels, isLie ? { ...call, numbers: { ...call.numbers, key0: key0 ^ 1 } } : call)
  }
}
