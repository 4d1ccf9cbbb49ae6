// Loaded into the real prover with --import: the replica of this number rounds by another chance in its second transition,
// in every run of it alike. Everything else about it is ours.
const flag = process.argv.indexOf('--work')
if (flag > 0 && process.argv[flag + 1] === '1') {
  const { EXACT_OPS } = await import(new URL('../../dist/core/work/workOps.js', import.meta.url).href)
  const { run } = EXACT_OPS.quantise
  EXACT_OPS.quantise.run = (kernels, call) => {
    const { key0, transition } = call.numbers
    const isLie = key0 !== undefined && transition === 2
    return run(kernels, isLie ? { ...call, numbers: { ...call.numbers, key0: key0 ^ 1 } } : call)
  }
}
