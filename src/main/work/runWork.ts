import { executeWork, type WorkStep } from '../../apps/work/executeWork.ts'
import { issueReceipt } from '../../core/certificate/receiptEvidence.ts'
import { withPrefix } from '../../core/units/format.ts'
import { toInstant } from '../../core/units/instants.ts'
import { floatOf } from '../../core/work/ops/shapes.ts'
import { operationsOf } from '../../core/work/program.ts'
import { WORK_REFUSALS, WorkRefusal } from '../../core/work/refusals.ts'
import { openWork, type Work } from '../../core/work/work.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import { WORK_KINDS } from '../../core/work/workKinds.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openCpuWork, openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { ensureWritable, writeAside } from '../../drivers/system/writeAside.ts'
import { encodeSafetensors } from '../../drivers/workFiles/safetensorsFile.ts'
import type { WorkRun } from '../../ports/workDevice.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { labelled } from '../render/labelled.ts'
import { bar } from '../render/showSteps.ts'
import { openTerminal, type Terminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, system } from '../system.ts'
import { version } from '../version.ts'
import { encodeProduct, matmulWork } from './matmulWork.ts'
import { type TrainFlags, trainWork } from './trainWork.ts'
import type { PreparedWork } from './workOrder.ts'

export interface RunFlags {
  readonly out: string
  readonly receipt: string
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
  const onSegment = async (run: WorkRun) => void blocks.push(await run.read('c'))
  return await runWork(prepared, flags, context, signal, {
    onSegment,
    result: async () => encodeProduct(prepared.rows, prepared.columns, Buffer.concat(blocks)),
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
    onSegment: async () => {},
    result: async (run, work) => {
      const weights = [...work.state].filter(([tensor]) => !tensor.includes('/'))
      const read = weights.map(async ([tensor, { rows, width }]) => ({
        name: tensor,
        dims: rows === 1 ? [width] : [rows, width],
        bytes: await run.read(tensor),
      }))
      return encodeSafetensors(await Promise.all(read))
    },
  })
}

interface Delivery {
  /** After each segment: what a result is gathered from. */
  onSegment(run: WorkRun): Promise<void>
  result(run: WorkRun, work: Work<WorkKernels>): Promise<Uint8Array>
}

async function runWork(
  { text, given }: PreparedWork,
  flags: RunFlags,
  { env }: CommandContext,
  signal: AbortSignal,
  delivery: Delivery,
): Promise<number> {
  for (const written of [flags.out, flags.receipt]) ensureWritable(written)
  const { clock, randomness } = system
  const signer = ownKey(env, 'validator')
  const startedMs = clock.wallTime().getTime()
  const order = { text, orderId: randomness.bytes(32), seed: randomness.bytes(32) }
  const device = await openCpuWork()
  const terminal = openTerminal(process.stderr, env)
  try {
    const work = openWork(WORK_KINDS, EXACT_OPS, order)
    const run = await device.start(work, given)
    const show = showWork(terminal, work)
    let result: Uint8Array | null = null
    const executed = await executeWork(
      {
        ...{ work, run, randomness },
        onStep: async (step) => {
          show(step)
          if (step.step === 'segment') await delivery.onSegment(run)
          if (step.step === 'segment' && step.segment === work.ends.length - 1)
            result = await delivery.result(run, work)
        },
      },
      signal,
    )
    terminal.live('')
    const issuedMs = clock.wallTime().getTime()
    const receipt = issueReceipt(
      {
        ...{ ...order, ...executed, spec: order.text, workId: work.workId, proverKey: signer.publicKey },
        ...{ program: `touchstone ${version}`, device: device.name, drawnBy: 'device', elapsedUs: null },
        ...{ startedAt: toInstant(startedMs), issuedAt: toInstant(issuedMs), notAfter: toInstant(issuedMs + VALID_MS) },
      },
      signer,
    )
    writeAside(flags.out, result!)
    writeAside(flags.receipt, receipt)
    tell(flags, work, (issuedMs - startedMs) / 1000, device.name, env)
    return EXIT.genuine
  } catch (error) {
    if (!(error instanceof WorkRefusal)) throw error
    throw fault('WORK_REFUSED', { why: `${WORK_REFUSALS[error.code].meaning} (${error.message})`, code: error.code })
  } finally {
    await device.close()
  }
}

/** Progress with the time left, and the loss where there is one. */
function showWork(terminal: Terminal, { ends, spec }: Work<WorkKernels>): (step: WorkStep) => void {
  const startedMs = performance.now()
  return (step) => {
    if (step.step === 'trace') return terminal.live(`  proving: ${step.done + 1} segments run again with trace`)
    const done = step.segment + 1
    const leftSeconds = ((performance.now() - startedMs) / 1000 / done) * (ends.length - done)
    const [loss] = step.mark.statistics
    const figure = loss === undefined ? '' : `, loss ${floatOf(loss).toFixed(4)}`
    terminal.live(
      `  ${bar(done / ends.length, terminal.barWidth)} ${spec.kind} ${done}/${ends.length}${figure}, ${Math.ceil(leftSeconds)} s left`,
    )
  }
}

function tell(flags: RunFlags, work: Work<WorkKernels>, seconds: number, device: string, env: NodeJS.ProcessEnv): void {
  const operations = operationsOf(work.ops, work.transition(1)) * work.spec.transitions
  const { out, receipt } = flags
  if (flags.json) {
    const told = { kind: work.spec.kind, transitions: work.spec.transitions, operations, seconds, device, out, receipt }
    return void process.stdout.write(`${JSON.stringify(told)}\n`)
  }
  openTerminal(process.stdout, env).lines([
    ...labelled('done', `${work.spec.kind}, ${work.spec.transitions} transitions, ${withPrefix(operations)}operations`),
    ...labelled('device', `${device}, ${seconds.toFixed(1)} s with its proof`),
    ...labelled('result', out),
    ...labelled('receipt', receipt),
    ...labelled('check it', `touchstone check ${receipt}`),
    ...labelled('note', 'the device drew for itself what is looked at: that shows accidents, not cheats'),
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
