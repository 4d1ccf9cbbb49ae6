import { toHex } from '../../core/bytes/hex.ts'
import type { TensorHasher } from '../../core/work/engineRun.ts'
import { type TensorShape, tensorBytes } from '../../core/work/tensor.ts'
import { WORK_KINDS } from '../../core/work/workKinds.ts'
import { encodeSpec, type WorkSpec } from '../../core/work/workSpec.ts'
import type { Tensors } from '../../ports/workDevice.ts'
import { fault } from '../faults.ts'

/** What a person asked for, ready to be run: the specification and everything it names. */
export interface PreparedWork {
  readonly text: string
  readonly given: Tensors
  readonly interval: number
}

/** Writes the specification of a work; inputs are named by their roots. */
export function prepareWork(
  asked: Pick<WorkSpec, 'kind' | 'parameters' | 'transitions' | 'interval'>,
  given: Tensors,
  hasher: TensorHasher,
): PreparedWork {
  const kind = WORK_KINDS[asked.kind]!
  const parsed = kind.parameters.safeParse(asked.parameters)
  if (!parsed.success) throw fault('BAD_WORK_INPUT', { why: saidOf(parsed.error.issues[0]!) })
  const shapes: ReadonlyMap<string, TensorShape> = kind.given(parsed.data)
  const inputs = [...shapes].map(([name, shape]) => {
    const bytes = given.get(name)
    if (bytes?.length !== tensorBytes(shape))
      throw fault('BAD_WORK_INPUT', { why: `${name} must be ${shape.rows} by ${shape.width} of ${shape.type}` })
    return { name, uri: '', root: toHex(hasher.root(shape, bytes)) }
  })
  return {
    text: encodeSpec({ ...asked, version: 1, inputs }),
    given: new Map([...shapes.keys()].map((name) => [name, given.get(name)!])),
    interval: asked.interval,
  }
}

const saidOf = ({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): string =>
  path.length === 0 ? 'together these parameters ask for too much' : `${path.map(String).join('.')}: ${message}`
