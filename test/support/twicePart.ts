import type { PartKind, PartShape } from '../../src/core/proof/part.ts'
import { series } from '../../src/core/proof/parts/series.ts'
import { calibrationPart, lasting } from '../../src/core/proof/planPart.ts'
import { classK } from '../../src/core/proof/sizeClass.ts'

const once = series('rounds')

/** A kind of part that does not exist: two series, the second from a word nobody knew during the first; it alone counts. */
export const twice: PartKind<PartShape<'twice', 'int8'>> = {
  ...once,
  name: 'twice',
  precisions: ['int8'],
  k: classK,
  phases: [once.phases[0], { ...once.phases[0], name: 'passes' }],
  verifier: ({ run, p, evidence, ...rest }) => {
    const { challenge, parts } = run
    const roots = evidence.roots.slice(challenge.parts[p]!.rounds)
    const second = { challenge, parts: parts.with(p, { ...parts[p]!, s: parts[p]!.z! }) }
    return once.verifier({ run: second, p, evidence: { ...evidence, roots }, ...rest })
  },
  plan: (inputs, size, timings) => [
    lasting(inputs, calibrationPart(inputs, twice, 'int8', size('int8')), inputs.partSeconds, timings),
  ],
}
