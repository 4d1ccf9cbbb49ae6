import { WorkRejected } from '../../apps/work/proverLine.ts'
import { lookInto } from '../../apps/work/watchReplicas.ts'
import type { WantedProofs, WorkStep } from '../../apps/work/workListener.ts'
import { attestationReader } from '../../core/attest/attestationReader.ts'
import type { AttestDoubt } from '../../core/attest/doubts.ts'
import { toInstant } from '../../core/units/instants.ts'
import { requireProvable } from '../../core/work/methods/step/provenWork.ts'
import { WorkRefusal } from '../../core/work/refusals.ts'
import { patchRunner } from '../../core/work/runPatch.ts'
import { holdGiven, openWork, type Work } from '../../core/work/work.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import { WORK_KINDS } from '../../core/work/workKinds.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openCheckerEngines, openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { ensureApart, writeAside } from '../../drivers/system/writeAside.ts'
import type { ProverProcess } from '../../ports/remoteBox.ts'
import type { Tensors } from '../../ports/workDevice.ts'
import { type AttestationFiles, attestationRules, vendorFiles, vendorOption } from '../attestationRules.ts'
import { checkAddress, openBox, placeOf } from '../boxes/openBox.ts'
import type { SshFlags } from '../boxes/sshFlags.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, system } from '../system.ts'
import { version } from '../version.ts'
import { inputNames, writeInputs, writeStates } from './inputFiles.ts'
import { encodeProduct, matmulWork } from './matmulWork.ts'
import { readInput } from './readInput.ts'
import { replayHere } from './replayHere.ts'
import { requireReadable } from './requireReadable.ts'
import { doubtsOf, refusedWork, reject, showWork, tell } from './tellWork.ts'
import { byAttestation, byOpenings, bySumcheck, type How, type Shown, type TakenState } from './workMethods.ts'
import type { PreparedWork } from './workOrder.ts'

export interface RunFlags extends SshFlags, AttestationFiles {
  /** The boxes that work; this machine where none is named. */
  readonly on?: readonly string[]
  readonly replicas: number
  /** How the result is shown to be right. */
  readonly method?: keyof typeof METHODS
  /** Operands under a code, for readers who have neither. */
  readonly code?: boolean
  /** Which products of drawn transitions are proven. */
  readonly products?: WantedProofs['products']
  /** The longest that one segment may take, in seconds. */
  readonly segmentLimit: number
  readonly out: string
  readonly receipt: string
  /** Where goes what hardware signed. */
  readonly evidence: string
  /** Where the inputs are written for whoever replays. */
  readonly inputs?: string
  readonly json?: boolean
}

const METHODS = { openings: byOpenings, sumcheck: bySumcheck, attest: byAttestation }

/** A receipt is evidence for as long as a certificate is. */
export const VALID_MS = 30 * 24 * 3600 * 1000

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
    tied: ['--result', flags.out],
    read: names,
    given: names,
  })
}

export interface Delivery {
  /** The state after every so many segments is part of the result; 0: the last one alone. */
  readonly every: number
  onState(segment: number, state: Tensors): void
  /** In the place of a line with the progress. */
  onStep?(step: WorkStep): void
  /** What goes to the file, from the last state, what was said of each and what was gathered; rejects what contradicts it. */
  result(work: Work<WorkKernels>, last: TakenState, marks: Shown['marks']): Uint8Array
  /** What a result is made of that does not hold it: it goes beside the inputs, so that the two can be compared. */
  states?(last: TakenState): Tensors
  /** Words for a check that compares the result with the receipt; none where it takes what was not written. */
  readonly tied: readonly string[]
  /** A file that it was made from and that must outlast it, and one more that it writes itself. */
  readonly read?: readonly string[]
  readonly beside?: string | undefined
  /** Files of what it was made of, as a check is handed them. */
  readonly given?: readonly string[]
  /** When all is over: what was written on the way stays only where it is part of what was shown. */
  end?(isShown: boolean): void
}

/** One work on a box that this machine watches: the result and the receipt, or nothing. */
export async function runWork(
  { text, given }: PreparedWork,
  flags: RunFlags,
  { env }: CommandContext,
  signal: AbortSignal,
  delivery: Delivery,
): Promise<number> {
  const { method = 'openings' } = flags
  if (method !== 'openings' && Math.max(flags.replicas, flags.on?.length ?? 1) > 1)
    throw fault('BAD_WORK_INPUT', { why: `--method ${method} takes one box and no replicas: its proof stands alone` })
  const { inputs, evidence } = flags
  const kept = inputs === undefined ? [] : inputNames(inputs, given)
  ensureApart(
    [flags.out, flags.receipt, method === 'attest' ? evidence : undefined, delivery.beside],
    [...kept, ...(delivery.read ?? []), ...vendorFiles(flags)],
  )
  for (const address of flags.on ?? []) await checkAddress(address)
  const boxes = flags.on ?? ['local']
  // One box is one place, however it is written.
  const places = boxes.length > 1 ? await Promise.all(boxes.map((address) => placeOf(address, signal))) : boxes
  const { clock, randomness } = system
  const signer = ownKey(env, 'validator')
  const startedMs = clock.wallTime().getTime()
  const order = { text, orderId: randomness.bytes(32), seed: randomness.bytes(32) }
  const terminal = openTerminal(process.stderr, env)
  const target = { flags, isPersonal: true, env, signer, say: terminal.line }
  const targets = Array.from({ length: Math.max(flags.replicas, boxes.length) }, (_, i) => ({
    ...target,
    address: boxes[i % boxes.length]!,
    proverArguments: ['--work', ...(i < boxes.length ? [] : [`${i}`])],
  }))
  const { judge, open } = judgingBy(flags)
  let isShown = false
  try {
    const hasher = hasherOn(await openExactEngine())
    // What no device would take is refused here: it is not the fault of whoever works.
    const work = holdGiven(openWork(WORK_KINDS, EXACT_OPS, order), given, hasher.root)
    const runPatch = patchRunner(await openExactEngine(), EXACT_OPS)
    const onStep = delivery.onStep ?? showWork(terminal, work)
    const ours = { clock, randomness, runPatch, hasher }
    const proven = method === 'sumcheck' && work.spec.kind !== 'matmul' ? provenOf(work, flags) : null
    const asked = { isCoded: flags.code === true, every: delivery.every, segmentMs: 1000 * flags.segmentLimit }
    const how = { ...asked, work, given, onStep, judge, ...ours, ...(proven ? { proven } : {}) }
    // Steps are proven beside openings, a product by itself.
    const show = proven ? byOpenings : METHODS[method]
    const showing = (provers: readonly ProverProcess[]) => show(provers, how, delivery.onState, signal)
    const shown = await onBoxes(targets, signal, showing).catch(lookingInto(how, signal))
    terminal.live('')
    const issuedMs = clock.wallTime().getTime()
    const receipt = shown.receipt(
      {
        ...{ ...order, spec: order.text, workId: work.workId, program: `touchstone ${version}` },
        ...{ startedAt: toInstant(startedMs), issuedAt: toInstant(issuedMs), notAfter: toInstant(issuedMs + VALID_MS) },
      },
      signer,
    )
    requireReadable(receipt)
    writeAside(flags.out, delivery.result(work, shown.last, shown.marks))
    writeAside(flags.receipt, receipt)
    if (shown.evidence) writeAside(flags.evidence, shown.evidence)
    if (flags.inputs !== undefined) {
      writeInputs(flags.inputs, given)
      writeStates(flags.inputs, delivery.states?.(shown.last) ?? new Map())
    }
    isShown = true
    const doubts = [...doubtsOf(shown, places), ...open()]
    tell(flags, work, { ...shown, doubts }, delivery, env)
    return doubts.length === 0 ? EXIT.genuine : EXIT.notEstablished
  } catch (error) {
    if (error instanceof WorkRejected) return reject(error, flags, openTerminal(process.stdout, env))
    throw error instanceof WorkRefusal ? refusedWork(error) : error
  } finally {
    terminal.live('')
    delivery.end?.(isShown)
  }
}

/** W12.5.1. What cannot be proven is refused before anything is done. */
function provenOf(work: Work<WorkKernels>, { products = 'shared' }: RunFlags): WantedProofs {
  try {
    requireProvable(work, products)
    return { products, openEngines: openCheckerEngines }
  } catch (error) {
    if (!(error instanceof WorkRefusal)) throw error
    throw fault('NOT_PROVABLE', { why: error.message, code: error.code })
  }
}

/**
 * W11. By the policy, golden values and answers that the operator brings along, at the time of the evidence or when the work
 * began: what grew old while a box worked is not its fault (attack 512).
 */
export function judgingBy(flags: AttestationFiles) {
  const rules = attestationRules(flags)
  const nowMs = () => system.clock.wallTime().getTime()
  const beganMs = nowMs()
  let doubts: readonly AttestDoubt[] = []
  const judge: How['judge'] = async (bundle, nonce) => {
    const reader = attestationReader({ ...rules, nonce, devices: 1 })
    const checked = await reader.checkFile(bundle, nowMs())
    const found = 'code' in checked ? await reader.checkFile(bundle, beganMs) : checked
    if ('code' in found) throw new WorkRejected('NOT_ATTESTED', `${found.meaning}, ${found.code}`)
    doubts = found.doubts
    const open = doubts.map(({ code }) => code).join(', ')
    return `${found.devices.map(({ model, pdi }) => `${model} ${pdi}`).join(', ')}${open && `; open: ${open}`}`
  }
  // Whoever brings nothing to judge it by asks nothing of it; else no doubt is a yes (attack 262).
  return { judge, open: () => (vendorOption(flags) === undefined ? [] : doubts) }
}

/** A prover on each box, all at the same time. */
async function onBoxes<T>(
  [next, ...rest]: readonly Parameters<typeof openBox>[0][],
  signal: AbortSignal,
  work: (provers: readonly ProverProcess[]) => Promise<T>,
): Promise<T> {
  if (!next) return await work([])
  return await onBox(next, signal, (prover) => onBoxes(rest, signal, (others) => work([prover, ...others])))
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

/** W4.6.6. Where one box alone says that the work has no result, that is found out before anybody is blamed (attack 520). */
const lookingInto =
  (how: How, signal: AbortSignal) =>
  async (error: unknown): Promise<never> => {
    if (!(error instanceof WorkRejected) || error.code !== 'REFUSED') throw error
    throw (await lookInto([error], replayHere(how, signal)))[0]
  }
