import { sha512 } from '@noble/hashes/sha2.js'
import { ascii, concatBytes, u32le } from '../../core/bytes/bytes.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { issueAnswer } from '../../core/certificate/answerEvidence.ts'
import { toInstant } from '../../core/units/instants.ts'
import { wideScalar } from '../../core/work/methods/zk/group.ts'
import { commitRows, drawMasks, provePrivate } from '../../core/work/methods/zk/provePrivate.ts'
import { basesFor, isFit, matrixId, type PrivateProduct, spellProduct } from '../../core/work/methods/zk/statement.ts'
import { ProductTranscript } from '../../core/work/methods/zk/transcript.ts'
import { quoteForShell } from '../../drivers/remote/ssh/quoteForShell.ts'
import { ensureApart, writeAside } from '../../drivers/system/writeAside.ts'
import { encodeNpy, type NpyMatrix } from '../../drivers/workFiles/npy.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { labelled, labelledCommand } from '../render/labelled.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, system } from '../system.ts'
import { version } from '../version.ts'
import { byInput, padded, paddedWidth } from './answerFiles.ts'
import { readOperand, turned } from './matmulWork.ts'
import { readInput } from './readInput.ts'
import { VALID_MS } from './runWork.ts'

export interface ClassifyFlags {
  readonly out: string
  readonly receipt: string
  readonly json?: boolean
}

/** W10.8. Scores of a linear model whose weights stay here, with a proof that they are those of the weights. */
export async function runClassify(
  names: readonly [string, string],
  flags: ClassifyFlags,
  context: CommandContext,
): Promise<number> {
  const weights = readOperand(readInput(names[0]), 'the weights')
  const inputs = readOperand(readInput(names[1]), 'the input')
  const held = quoteForShell(['--given', names[1], '--result', flags.out])
  return proveHidden({ names, weights, inputs, held }, flags, context, byRow)
}

/** The same for a product of two files, of which the first stays here. */
export async function runPrivateProduct(
  names: readonly [string, string],
  flags: ClassifyFlags,
  context: CommandContext,
): Promise<number> {
  const [a, b] = [readOperand(readInput(names[0]), 'A'), readOperand(readInput(names[1]), 'B')]
  const inputs = { ...b, rows: b.width, width: b.rows, bytes: turned(b) }
  const held = '--given INPUTS.npy, a row for each column of B'
  return proveHidden({ names, weights: a, inputs, held }, flags, context, byClass)
}

interface Hidden {
  /** The files they are from. */
  readonly names: readonly string[]
  readonly weights: NpyMatrix
  readonly inputs: NpyMatrix
  /** What a check of the receipt takes besides. */
  readonly held: string
}

async function proveHidden(
  { names, weights, inputs, held }: Hidden,
  flags: ClassifyFlags,
  { env }: CommandContext,
  lay: (sizes: Sizes, scores: readonly number[]) => NpyMatrix,
): Promise<number> {
  ensureApart([flags.out, flags.receipt], names)
  const inner = paddedWidth(weights.width)
  if (weights.width !== inputs.width)
    throw fault('BAD_WORK_INPUT', {
      why: `${weights.width} columns of weights (or A) do not fit ${inputs.width} of inputs (or rows of B)`,
    })
  const sizes = { rows: weights.rows, inner, columns: inputs.rows }
  if (!isFit(sizes))
    throw fault('BAD_WORK_INPUT', { why: 'at most 1,024 columns and 4,096 scores are proven in this way' })
  const startedMs = system.clock.wallTime().getTime()
  const signer = ownKey(env, 'validator')
  const [a, b] = [padded(weights), padded(inputs)]
  const scores = scoresOf(sizes, a, b)
  const blindA = blindsOf(signer, weights)
  const rows = commitRows(sizes, a.map(BigInt), blindA)
  const product: PrivateProduct = { ...sizes, a: rows, b: { open: b }, c: { open: scores } }
  const [modelId, nothing] = [matrixId(rows), (count: number) => new Array<bigint>(count).fill(0n)]
  const secrets = { a: a.map(BigInt), blindA, b: b.map(BigInt) }
  const proof = provePrivate(
    product,
    basesFor(inner, modelId),
    { ...secrets, blindB: nothing(sizes.columns), blindC: nothing(scores.length) },
    drawMasks(system.randomness.bytes, inner),
    new ProductTranscript(spellProduct(product)),
  )
  const issuedMs = system.clock.wallTime().getTime()
  const times = { startedAt: toInstant(startedMs), issuedAt: toInstant(issuedMs) }
  const facts = { ...times, notAfter: toInstant(issuedMs + VALID_MS), program: `touchstone ${version}` }
  writeAside(flags.out, encodeNpy(lay(sizes, scores)))
  writeAside(flags.receipt, issueAnswer({ ...facts, proverKey: signer.publicKey, modelId, product, proof }, signer))
  tell(flags, { model: toHex(modelId), proofBytes: proof.length, held }, env)
  return EXIT.genuine
}

type Sizes = Pick<PrivateProduct, 'rows' | 'inner' | 'columns'>

/** A row for each class, as the proof has them. */
const scoresOf = ({ rows, inner, columns }: Sizes, a: readonly number[], b: readonly number[]): readonly number[] =>
  Array.from({ length: rows * columns }, (_, at) => {
    const [i, j] = [Math.floor(at / columns) * inner, (at % columns) * inner]
    let sum = 0
    for (let l = 0; l < inner; l++) sum += a[i + l]! * b[j + l]!
    return sum
  })

/** As they are. */
const byClass = ({ rows, columns }: Sizes, scores: readonly number[]): NpyMatrix => ({
  ...{ type: 'i32', rows, width: columns },
  bytes: new Uint8Array(Int32Array.from(scores).buffer),
})

/** As people want them. */
const byRow = (sizes: Sizes, scores: readonly number[]): NpyMatrix => ({
  ...{ type: 'i32', rows: sizes.columns, width: sizes.rows },
  bytes: new Uint8Array(Int32Array.from(byInput(sizes, scores)).buffer),
})

/**
 * The same for the same weights under the same key, so that a model is called the same in every receipt; for other weights
 * others, since two commitments under one blind show their difference. A signature is what nobody else can make.
 */
function blindsOf(signer: Signer, { rows, width, bytes }: NpyMatrix): readonly bigint[] {
  const secret = signer.sign(concatBytes(ascii('tsz1/blinds'), u32le(rows), u32le(width), sha256(bytes)))
  return Array.from({ length: rows }, (_, i) => wideScalar(sha512(concatBytes(ascii('tsz1/blind'), secret, u32le(i)))))
}

interface Told {
  readonly model: string
  readonly proofBytes: number
  readonly held: string
}

function tell({ out, receipt, json }: ClassifyFlags, { model, proofBytes, held }: Told, env: NodeJS.ProcessEnv): void {
  if (json) return void process.stdout.write(`${JSON.stringify({ model, proofBytes, out, receipt })}\n`)
  openTerminal(process.stdout, env).lines([
    ...labelled('done', `scores, and a proof of ${proofBytes} bytes that shows nothing of the weights`),
    ...labelled('model', `${model}: publish it once, every answer is held against it`),
    ...labelled('result', out),
    ...labelled('receipt', receipt),
    ...labelledCommand('check it', `${quoteForShell(['touchstone', 'check', receipt, '--model', model])} ${held}`),
  ])
}
