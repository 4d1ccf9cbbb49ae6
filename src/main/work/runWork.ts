import { WorkRejected } from '../../apps/work/proverLine.ts'
import { type WatchedWork, type WorkStep, watchWork } from '../../apps/work/watchWork.ts'
import { issueReceipt } from '../../core/certificate/receiptEvidence.ts'
import { withPrefix } from '../../core/units/format.ts'
import { toInstant } from '../../core/units/instants.ts'
import { floatOf } from '../../core/work/ops/shapes.ts'
import { WORK_REFUSALS, WorkRefusal } from '../../core/work/refusals.ts'
import { patchRunner } from '../../core/work/runPatch.ts'
import { openWork, operationsOfWork, type Work } from '../../core/work/work.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import { WORK_KINDS } from '../../core/work/workKinds.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { ensureWritable, writeAside } from '../../drivers/system/writeAside.ts'
import { encodeSafetensors } from '../../drivers/workFiles/safetensorsFile.ts'
import type { ProverProcess } from '../../ports/remoteBox.ts'
import type { Tensors } from '../../ports/workDevice.ts'
import { checkAddress, openBox } from '../boxes/openBox.ts'
import type { SshFlags } from '../boxes/openSshBox.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { labelled } from '../render/labelled.ts'
import { bar } from '../render/showSteps.ts'
import { openTerminal, type Terminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, system } from '../system.ts'
import { version } from '../version.ts'
import { encodeProduct, matmulWork } from './matmulWork.ts'
import { writeInputs } from './replayFiles.ts'
import { type TrainFlags, trainWork } from './trainWork.ts'
import type { PreparedWork } from './workOrder.ts'

export interface RunFlags extends SshFlags {
  /** The box that works; "local" is this machine. */
  readonly on: string
  /** The longest that one segment may take, in seconds. */
  readonly segmentLimit: number
  readonly out: string
  readonly receipt: string
  /** Where the inputs are written for whoever replays. */
  readonly inputs?: string
  readonly json?: boolean
}

/** A receipt is evidence for as long as a certificate is. */
const VALID_MS = 30 * 24 * 3600 * 1000
const MOST_INPUT_BYTES = 2 ** 31 - 1

/** The product of two files of NumPy. */
export async function runMatmul(
  names: readonly [string, string],
  flags: RunFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const hasher = hasherOn(await openExactEngine())
  const prepared = matmulWork([readInput(names[0]), readInput(names[1])], hasher)
  const blocks: Uint8Array[] = []
  return await runWork(prepared, flags, context, signal, {
    every: 1,
    onState: (_, state) => void blocks.push(state.get('c')!),
    result: () => encodeProduct(prepared.rows, prepared.columns, Buffer.concat(blocks)),
  })
}

/** A model that learns a file. */
export async function runTraining(
  name: string,
  flags: RunFlags & TrainFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const prepared = trainWork(readInput(name), flags, hasherOn(await openExactEngine()))
  return await runWork(prepared, flags, context, signal, {
    every: 0,
    onState: () => {},
    result: ({ state }, last) =>
      encodeSafetensors(
        [...state]
          .filter(([tensor]) => !tensor.includes('/'))
          .map(([tensor, { rows, width }]) => ({
            name: tensor,
            dims: rows === 1 ? [width] : [rows, width],
            bytes: last.get(tensor)!,
          })),
      ),
  })
}

export interface Delivery {
  /** The state after every so many segments is part of the result; 0: the last one alone. */
  readonly every: number
  onState(segment: number, state: Tensors): void
  /** What goes to the file, from the last state and what was gathered. */
  result(work: Work<WorkKernels>, last: Tensors): Uint8Array
}

/** One work on a box that this machine watches: the result and the receipt, or nothing. */
export async function runWork(
  { text, given }: PreparedWork,
  flags: RunFlags,
  { env }: CommandContext,
  signal: AbortSignal,
  delivery: Delivery,
): Promise<number> {
  for (const written of [flags.out, flags.receipt]) ensureWritable(written)
  await checkAddress(flags.on)
  const { clock, randomness } = system
  const signer = ownKey(env, 'validator')
  const startedMs = clock.wallTime().getTime()
  const order = { text, orderId: randomness.bytes(32), seed: randomness.bytes(32) }
  const terminal = openTerminal(process.stderr, env)
  const target = { address: flags.on, flags, isPersonal: true, proverArguments: ['--work'], env, signer }
  try {
    const work = openWork(WORK_KINDS, EXACT_OPS, order)
    const engine = await openExactEngine()
    const runPatch = patchRunner(await openExactEngine(), EXACT_OPS)
    const onStep = showWork(terminal, work)
    let last: Tensors = new Map()
    const onState = (segment: number, state: Tensors) => {
      last = state
      delivery.onState(segment, state)
    }
    const ours = { clock, randomness, runPatch, hasher: hasherOn(engine) }
    const how = { work, given, every: delivery.every, onStep, onState, ...ours }
    const watched = await onBox({ ...target, say: terminal.line }, signal, (prover) =>
      watchWork({ ...how, prover, segmentMs: 1000 * flags.segmentLimit }, signal),
    )
    terminal.live('')
    const issuedMs = clock.wallTime().getTime()
    const receipt = issueReceipt(
      {
        ...{ ...order, ...watched, spec: order.text, workId: work.workId },
        ...{ program: `touchstone ${version}`, drawnBy: 'listener' },
        ...{ startedAt: toInstant(startedMs), issuedAt: toInstant(issuedMs), notAfter: toInstant(issuedMs + VALID_MS) },
      },
      signer,
    )
    writeAside(flags.out, delivery.result(work, last))
    writeAside(flags.receipt, receipt)
    if (flags.inputs !== undefined) writeInputs(flags.inputs, given)
    tell(flags, work, watched, env)
    return EXIT.genuine
  } catch (error) {
    if (error instanceof WorkRejected) return reject(error, flags, openTerminal(process.stdout, env))
    if (!(error instanceof WorkRefusal)) throw error
    throw fault('WORK_REFUSED', { why: `${WORK_REFUSALS[error.code].meaning} (${error.message})`, code: error.code })
  } finally {
    terminal.live('')
  }
}

/** The prover of a box, for as long as the work takes. */
async function onBox<T>(
  target: Parameters<typeof openBox>[0],
  signal: AbortSignal,
  work: (prover: ProverProcess) => Promise<T>,
): Promise<T> {
  const box = await openBox(target, signal)
  try {
    await box.install(signal)
    const prover = await box.start(signal)
    try {
      return await work(prover)
    } finally {
      await prover.stop()
    }
  } finally {
    await box.close()
  }
}

/** What was not shown is not delivered. */
function reject({ code, message }: WorkRejected, { json }: RunFlags, people: Terminal): number {
  if (json) process.stdout.write(`${JSON.stringify({ rejected: code, why: message })}\n`)
  else
    people.lines([
      ...labelled('REJECTED', `${message} [${code}]`),
      ...labelled('now', 'nothing was written: do not pay for it; run it elsewhere'),
    ])
  return EXIT.rejected
}

/** Progress with the time left, and the loss where there is one. */
function showWork(terminal: Terminal, { ends, spec }: Work<WorkKernels>): (step: WorkStep) => void {
  const startedMs = performance.now()
  return (step) => {
    if (step.step === 'trace') return terminal.live(`  proving: segment ${step.done + 1} is run again with trace`)
    const done = step.segment + 1
    const leftSeconds = ((performance.now() - startedMs) / 1000 / done) * (ends.length - done)
    const [loss] = step.mark?.statistics ?? []
    const figure = loss === undefined ? '' : `, loss ${floatOf(loss).toFixed(4)}`
    terminal.live(
      `  ${bar(done / ends.length, terminal.barWidth)} ${spec.kind} ${done}/${ends.length}${figure}, ${Math.ceil(leftSeconds)} s left`,
    )
  }
}

function tell(flags: RunFlags, work: Work<WorkKernels>, watched: WatchedWork, env: NodeJS.ProcessEnv): void {
  const operations = operationsOfWork(work)
  const { out, receipt } = flags
  const { device, elapsedUs, figures } = watched
  const seconds = elapsedUs / 1e6
  if (flags.json) {
    const told = { kind: work.spec.kind, transitions: work.spec.transitions, operations, seconds, device, out, receipt }
    return void process.stdout.write(`${JSON.stringify(told)}\n`)
  }
  const looked = `${figures.patches} patches of ${figures.drawnSegments} segments, drawn here once the last state was in`
  openTerminal(process.stdout, env).lines([
    ...labelled('done', `${work.spec.kind}, ${work.spec.transitions} transitions, ${withPrefix(operations)}operations`),
    ...labelled('device', `${device} (claimed), ${seconds.toFixed(1)} s from the seed to the last state`),
    ...labelled('looked at', looked),
    ...labelled('result', out),
    ...labelled('receipt', receipt),
    ...labelled('check it', `touchstone check ${receipt}`),
  ])
}

function readInput(name: string): Uint8Array {
  let content: Uint8Array | number
  try {
    content = readRegularFile(name, MOST_INPUT_BYTES)
  } catch {
    throw fault('NOT_READABLE', { file: name })
  }
  if (typeof content === 'number') throw fault('BAD_WORK_INPUT', { why: `${name} has ${content} bytes, too many` })
  return content
}
