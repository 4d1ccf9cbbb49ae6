// The prover runs from its modules and not from its bundle: what is changed in them is what it uses.
import { register } from 'node:module'

const unbundled = `export const resolve = (to, context, next) => next(to.replace('/bundled/prover.js', '/main/prover.js'), context)`
register(`data:text/javascript,${encodeURIComponent(unbundled)}`)

export const ours = (file) => import(new URL(`../../dist/core/work/${file}`, import.meta.url).href)
