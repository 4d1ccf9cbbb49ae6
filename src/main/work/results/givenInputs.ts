import { equalBytes } from '../../../core/bytes/bytes.ts'
import { matmul } from '../../../core/work/kinds/matmul/matmul.ts'
import { type PictureParameters, rendering } from '../../../core/work/kinds/rendering/rendering.ts'
import { type TrainingParameters, training } from '../../../core/work/kinds/training/training.ts'
import { tensorBytes } from '../../../core/work/tensor.ts'
import type { Work } from '../../../core/work/work.ts'
import { hasherOn } from '../../../core/work/workEngine.ts'
import type { WorkKernels } from '../../../core/work/workKernels.ts'
import { openExactEngine } from '../../../drivers/gpu/cpu/work/openCpuWork.ts'
import type { Tensors } from '../../../ports/workDevice.ts'
import { fault } from '../../faults.ts'
import { readOperand, turned } from '../matmulWork.ts'
import { sized } from '../productFiles.ts'
import { readInput } from '../readInput.ts'
import { sceneGiven, sceneIn } from '../renderWork.ts'
import { drawnDigits, startIn, startTensors, textWindows } from '../trainWork.ts'

type TheWork = Work<WorkKernels>

/** W4.7.7. What a kind is made of, as whoever ordered it has it. */
interface InputRule {
  /** What its files are called, in their order; what parameters alone make takes none. */
  files(work: TheWork): readonly string[]
  /** The inputs that they make; a name instead where they differ in what is no input. */
  inputs(paths: readonly string[], work: TheWork): Tensors | string | Promise<Tensors | string>
}

const productInputs: InputRule = {
  files: () => ['A.npy', 'B.npy'],
  inputs(paths, { spec }) {
    const { rows, columns, k } = matmul.parameters.parse(spec.parameters)
    const [a, b] = paths.map((path, i) => readOperand(readInput(path), 'AB'[i]!))
    return new Map([
      ['a', sized(a!, rows, k).bytes],
      ['b', turned(sized(b!, k, columns))],
    ])
  },
}

const saidOf = ({ spec }: TheWork) => training.parameters.parse(spec.parameters) as TrainingParameters

const trainingInputs: InputRule = {
  files(work) {
    const { model, start } = saidOf(work)
    return [...(model.family === 'mlp' ? [] : ['TEXT']), ...(start === 'fresh' ? [] : ['START.safetensors'])]
  },
  inputs(paths, work) {
    const { model, start, tokens, done = null } = saidOf(work)
    const isDrawn = model.family === 'mlp'
    const begun = start === 'fresh' ? null : startIn(paths.at(-1)!)
    if (begun && begun.done !== done) return 'the number of steps that made it'
    const data = isDrawn ? drawnDigits() : textWindows(readInput(paths[0]!), tokens)
    return new Map([...data, ...startTensors(begun)])
  },
}

/** Cells are made of options, and have no file but the one that `work run --inputs` writes. */
const flowInputs: InputRule = {
  files: ({ given }) => [...given.keys()].map((name) => `${name}.bin`),
  inputs: (paths, { given }) => new Map([...given.keys()].map((name, i) => [name, readInput(paths[i]!)])),
}

const sceneInputs: InputRule = {
  files: () => ['SCENE.glb'],
  async inputs([path], { spec }) {
    const said = rendering.parameters.parse(spec.parameters) as PictureParameters
    const { given, epsilon } = sceneGiven(await sceneIn(path!), said)
    return epsilon === said.epsilon ? given : 'epsilon'
  },
}

const RULES: Readonly<Record<string, InputRule>> = {
  matmul: productInputs,
  training: trainingInputs,
  simulation: flowInputs,
  rendering: sceneInputs,
}

/** Null where the file of the result shows what it was made of. */
export const inputRuleOf = ({ spec }: TheWork): InputRule | null =>
  Object.hasOwn(RULES, spec.kind) ? RULES[spec.kind]! : null

/** The first input that is not what the named files make; null where all are, or none was named where some are needed. */
export async function otherInput(work: TheWork, paths: readonly string[]): Promise<string | null> {
  const rule = inputRuleOf(work)
  const wanted = rule?.files(work) ?? []
  if (paths.length !== wanted.length && paths.length > 0) throw fault('BAD_WORK_INPUT', { why: countOf(work, wanted) })
  if (!rule || paths.length < wanted.length) return null
  const made = await rule.inputs(paths, work)
  if (typeof made === 'string') return made
  const { root } = hasherOn(await openExactEngine())
  const isOther = (name: string) => {
    const [shape, bytes] = [work.given.get(name)!, made.get(name)]
    return bytes?.length !== tensorBytes(shape) || !equalBytes(root(shape, bytes), work.givenRoots.get(name)!)
  }
  return [...work.given.keys()].find(isOther) ?? null
}

const countOf = ({ spec }: TheWork, wanted: readonly string[]): string =>
  wanted.length === 0
    ? `${spec.kind} takes no --given here: what it was made of is compared with --result`
    : `${spec.kind} takes ${wanted.map((file) => `--given ${file}`).join(' ')}`
