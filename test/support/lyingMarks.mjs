// Loaded into the real prover with --import: of one state it says figures that are not those of it, and its states are right.
// It runs from its modules and not from its bundle: what is changed here is what it uses.
import { register } from 'node:module'

const unbundled = `export const resolve = (to, context, next) => next(to.replace('/bundled/prover.js', '/main/prover.js'), context)`
register(`data:text/javascript,${encodeURIComponent(unbundled)}`)
if (process.argv.includes('--work')) {
  const { EngineRun } = await import(new URL('../../dist/core/work/engineRun.js', import.meta.url).href)
  const { advance } = EngineRun.prototype
  EngineRun.prototype.advance = function (segment) {
    const mark = advance.call(this, segment)
    const isLie = segment === Number(process.env.LYING_SEGMENT)
    return isLie ? { ...mark, statistics: mark.statistics.map((bits) => bits ^ 1) } : mark
  }
}
