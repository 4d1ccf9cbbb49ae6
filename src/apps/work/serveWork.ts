import { cpuReportData, workNonce, workOpenNonce } from '../../core/attest/binding.ts'
import { type CpuEvidence, writeBundle } from '../../core/attest/bundle.ts'
import type { NvidiaEvidence } from '../../core/attest/nvidiaDevice.ts'
import { readReport } from '../../core/attest/spdm.ts'
import { concatBytes, equalBytes, joinBytes, u32le } from '../../core/bytes/bytes.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { printable, SHORT_TEXT } from '../../core/bytes/printable.ts'
import { encodeFrame, FrameDecoder } from '../../core/wire/frames.ts'
import { PIECE_BYTES, WORK_ORDER_TYPES, type WorkAnswer, type WorkOrderMessage } from '../../core/wire/messages.ts'
import type { Disputant } from '../../core/work/methods/dispute.ts'
import { engineDisputant } from '../../core/work/methods/engineDisputant.ts'
import { type ProvableSteps, requireProvable } from '../../core/work/methods/step/provenWork.ts'
import type { FieldEngine } from '../../core/work/methods/sumcheck/evaluate.ts'
import { productOf } from '../../core/work/methods/sumcheck/productReceipt.ts'
import { proveGathered } from '../../core/work/methods/sumcheck/sumcheck.ts'
import { proveWork } from '../../core/work/proveWork.ts'
import { requireThat, WorkRefusal } from '../../core/work/refusals.ts'
import { beginChain, hiddenLink, linksOf, nextLink, type StateMark } from '../../core/work/stateChain.ts'
import { tensorBytes } from '../../core/work/tensor.ts'
import { executedMessage, nonceCommitment } from '../../core/work/watched.ts'
import { openWork, type Work } from '../../core/work/work.ts'
import { type ExactEngine, hasherOn } from '../../core/work/workEngine.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import { WORK_KINDS } from '../../core/work/workKinds.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import type { Randomness } from '../../ports/randomness.ts'
import type { Tensors, WorkDevice, WorkRun } from '../../ports/workDevice.ts'
import { fault } from '../shared/faults.ts'

interface WorkServer {
  readonly device: WorkDevice
  readonly signer: Signer
  readonly randomness: Randomness
  /** For the rounds of a sumcheck, when one is asked for. */
  openField(): Promise<FieldEngine>
  /** For the trees of a dispute, when there is one. */
  openExact(): Promise<ExactEngine>
  /** Has the processor around the device sign 64 bytes; null where it cannot. */
  readonly askProcessor?: (data: Uint8Array) => Promise<CpuEvidence | null>
  /** What the listener writes. Its end is the listener's goodbye. */
  readonly input: AsyncIterable<Uint8Array>
  write(bytes: Uint8Array): Promise<void>
}

type Assignment = Extract<WorkOrderMessage, { type: 'assign' }>
type Send = (answer: WorkAnswer) => Promise<void>
type Expect = <T extends WorkOrderMessage['type']>(
  ...due: readonly T[]
) => Promise<Extract<WorkOrderMessage, { type: T }>>

/** Inputs of one work, all together. */
const MOST_GIVEN_BYTES = 2 ** 36
/** Memory for states that are kept. */
const KEPT_BYTES = 2 ** 30
const NO_STATE = new Uint8Array(32)

/** W4.6. The side that works: does one assignment, and says every state as it is made. A fault is said; then it ends. */
export async function serveWork(server: WorkServer): Promise<void> {
  const { device, signer, randomness, openField, openExact, input, write } = server
  const send: Send = (answer) => write(encodeFrame(answer))
  const expect = ordersFrom(input)
  try {
    await expect('greet')
    await send({
      type: 'greeted',
      key: signer.publicKey,
      device: new TextEncoder().encode(printable(device.name, SHORT_TEXT)),
    })
    const assignment = await expect('assign')
    const given = await takeInputs(assignment, expect)
    await send({ type: 'accepted', provesSteps: provesSteps(device, assignment) })
    const due = vouching(server, expect, send)
    const { seed } = await due(workOpenNonce(assignment.orderId, signer.publicKey), 'seed')
    const work = workOf(assignment, seed)
    const run = await device.start(work, given)
    const salt = randomness.bytes(32)
    const done = await execute(work, run, assignment, {
      send,
      hide: (link) => hiddenLink(signer.publicKey, salt, link),
    })
    const lastLink = linksOf(work.workId, done.firstRoot, done.marks).at(-1)!
    await send({ type: 'executed', signature: signer.sign(executedMessage(work.workId, lastLink)) })
    if (assignment.isHidden) await unveil(work, done, salt, send, expect)
    const answering = answeringDisputes(work, run, openExact, done, send, expect)
    const nonce = workNonce(work.workId, signer.publicKey, lastLink)
    const asked = await vouching(server, answering, send)(nonce, 'draw', 'prove')
    if (asked.type === 'draw') await open(work, run, done, assignment, { send, expect, first: asked.nonce })
    else await send({ type: 'proven', proof: await proveProduct(work, run, done, openField) })
  } catch (error) {
    if (error instanceof ListenerGone) return
    const code = error instanceof WorkRefusal ? error.code : 'WORK_FAILED'
    await send({ type: 'fault', code, text: printable(error instanceof Error ? error.message : 'unknown', 400) })
  }
}

class ListenerGone extends Error {}

/**
 * W11. The next order that is due, and before it, once, evidence of the hardware. The nonce is made here: a listener must not
 * have a device sign what another work needs.
 */
const vouching =
  ({ device, askProcessor }: WorkServer, expect: Expect, send: Send) =>
  async <T extends WorkOrderMessage['type']>(nonce: Uint8Array, ...due: readonly T[]) => {
    const order = await expect<T | 'vouch'>('vouch', ...due)
    if (order.type !== 'vouch') return order as Extract<WorkOrderMessage, { type: T }>
    const evidence = (await device.attest?.(nonce)) ?? null
    await send({ type: 'vouched', bundle: evidence ? await bundled(evidence, nonce, askProcessor) : new Uint8Array(0) })
    return await expect(...due)
  }

async function bundled(
  evidence: NvidiaEvidence,
  nonce: Uint8Array,
  askProcessor: WorkServer['askProcessor'],
): Promise<Uint8Array> {
  const data = cpuReportData(nonce, new Uint8Array(0), [readReport(evidence.report).signed])
  const cpu = (await askProcessor?.(data)) ?? null
  return writeBundle({ devices: [{ ...evidence, nonce }], rims: [], ocsp: [], cpu })
}

/** Orders one after the other; any other than the one that is due ends it. */
function ordersFrom(input: AsyncIterable<Uint8Array>): Expect {
  const decoder = new FrameDecoder(WORK_ORDER_TYPES)
  const orders = (async function* () {
    for await (const chunk of input) for (const order of decoder.push(chunk)) yield order as WorkOrderMessage
  })()
  return async (...due) => {
    const { value, done } = await orders.next()
    if (done) throw new ListenerGone()
    const isDue = due.some((type) => type === value.type)
    if (!isDue) throw fault('WRONG_ORDER', { what: `${value.type} where ${due.join(' or ')} is due` })
    return value as never
  }
}

const workOf = ({ spec, orderId }: Assignment, seed: Uint8Array): Work<WorkKernels> =>
  openWork(WORK_KINDS, EXACT_OPS, { text: new TextDecoder().decode(spec), orderId, seed })

/** Every input by its size; its root is looked at by the device. */
async function takeInputs(assignment: Assignment, expect: Expect): Promise<Tensors> {
  const { given } = workOf(assignment, new Uint8Array(32))
  const bytes = [...given.values()].reduce((sum, shape) => sum + tensorBytes(shape), 0)
  requireThat(bytes <= MOST_GIVEN_BYTES, 'TOO_BIG', `its inputs have ${bytes} bytes`)
  const taken = new Map<string, Uint8Array>()
  for (const [input, [name, shape]] of [...given].entries()) {
    const tensor = new Uint8Array(tensorBytes(shape))
    for (let at = 0; at < tensor.length; ) {
      const piece = await expect('give')
      const fits = piece.input === input && piece.bytes.length > 0 && at + piece.bytes.length <= tensor.length
      requireThat(fits, 'BAD_INPUT', `a piece of ${name} is out of place`)
      tensor.set(piece.bytes, at)
      at += piece.bytes.length
    }
    taken.set(name, tensor)
  }
  return taken
}

interface Done {
  readonly firstRoot: Uint8Array
  readonly marks: readonly StateMark[]
}

/** From the beginning to the last state; each is said at once, in the open or hidden. */
async function execute(
  work: Work<WorkKernels>,
  run: WorkRun,
  { isHidden, every }: Assignment,
  { send, hide }: { readonly send: Send; hide(link: Uint8Array): Uint8Array },
): Promise<Done> {
  const hasBeginning = !work.isIndependent
  let firstRoot: Uint8Array = NO_STATE
  const marks: StateMark[] = []
  let link = beginChain(work.workId, firstRoot)
  const say = async (segment: number, mark: StateMark) => {
    link = segment < 0 ? beginChain(work.workId, mark.root) : nextLink(link, mark)
    if (isHidden) await send({ type: 'hidden', segment: segment + 1, commitment: hide(link) })
    else await send(markMessage(segment, mark))
  }
  if (hasBeginning) {
    const mark = await run.advance(-1)
    firstRoot = mark.root
    await run.keep(-1)
    await say(-1, mark)
  }
  const keeping = hasBeginning ? keptEvery(work) : Number.POSITIVE_INFINITY
  for (let segment = 0; segment < work.ends.length; segment++) {
    const mark = await run.advance(segment)
    marks.push(mark)
    if ((segment + 1) % keeping === 0) await run.keep(segment)
    await say(segment, mark)
    if (isDelivered(work.ends.length, every, segment)) await deliver(work, run, segment, send)
  }
  return { firstRoot, marks }
}

/** W4.6.5. After how many segments a state is kept: what lies between two of them is run again by whoever needs it. */
export function keptEvery({ isIndependent, state, ends }: Work<WorkKernels>): number {
  if (isIndependent) return 1
  const stateBytes = [...state.values()].reduce((sum, shape) => sum + tensorBytes(shape), 0)
  return Math.max(1, Math.ceil((stateBytes * ends.length) / KEPT_BYTES))
}

/** Whether the state after a segment is part of the result: the last one, and every so many. */
export const isDelivered = (segments: number, every: number, segment: number): boolean =>
  segment === segments - 1 || (every > 0 && (segment + 1) % every === 0)

const markMessage = (segment: number, { root, statistics }: StateMark): WorkAnswer => ({
  ...{ type: 'mark', segment: segment + 1, root },
  statistics: concatBytes(...statistics.map(u32le)),
})

async function deliver(work: Work<WorkKernels>, run: WorkRun, segment: number, send: Send): Promise<void> {
  for (const [tensor, name] of [...work.state.keys()].entries()) {
    await sendPieces(segment, tensor, await run.read(name), send)
  }
}

async function sendPieces(segment: number, tensor: number, bytes: Uint8Array, send: Send): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    await send({ type: 'piece', segment: segment + 1, tensor, bytes: bytes.subarray(at, at + PIECE_BYTES) })
}

async function unveil(
  work: Work<WorkKernels>,
  { firstRoot, marks }: Done,
  salt: Uint8Array,
  send: Send,
  expect: Expect,
): Promise<void> {
  await expect('unveil')
  await send({ type: 'unveiled', salt })
  if (!work.isIndependent) await send(markMessage(-1, { transition: 0, root: firstRoot, statistics: [] }))
  for (const [segment, mark] of marks.entries()) await send(markMessage(segment, mark))
}

const QUESTIONS = ['askTrace', 'askNodes', 'askLeaf', 'askPatch'] as const
type Question = Extract<WorkOrderMessage, { type: (typeof QUESTIONS)[number] }>

/** W5.4. The next order that is due; questions of a dispute may come before it, and are answered. */
function answeringDisputes(
  work: Work<WorkKernels>,
  run: WorkRun,
  openExact: WorkServer['openExact'],
  { firstRoot, marks }: Done,
  send: Send,
  expect: Expect,
): Expect {
  const side = engineDisputant(work, run, async () => hasherOn(await openExact()), firstRoot, marks)
  const isQuestion = (order: WorkOrderMessage): order is Question => QUESTIONS.some((type) => type === order.type)
  return async (...due) => {
    for (;;) {
      const order = await expect<WorkOrderMessage['type']>(...due, ...QUESTIONS)
      if (!isQuestion(order)) return order as never
      const segment = order.segment - 1
      if (segment >= work.ends.length || (segment < 0 && work.isIndependent))
        throw fault('WRONG_ORDER', { what: `a question about segment ${segment}` })
      await send(await answerTo(side, order, segment))
    }
  }
}

async function answerTo(side: Disputant, order: Question, segment: number): Promise<WorkAnswer> {
  switch (order.type) {
    case 'askTrace':
      return { type: 'traced', segment: order.segment, roots: joinBytes((await side.trace(segment))!) }
    case 'askNodes': {
      const hashes = await side.nodes(segment, order, order.level, order.from, order.count)
      return { type: 'nodes', hashes: joinBytes(hashes ?? []) }
    }
    case 'askLeaf':
      return { type: 'leaf', bytes: (await side.leaf(segment, order, order.leaf))! }
    case 'askPatch': {
      const { leaves, proof } = (await side.patch(segment, order))!
      const bytes = concatBytes(leaves, proof)
      return { type: 'patch', segment: order.segment, index: 0, leafBytes: leaves.length, bytes }
    }
  }
}

/** W8.8. The whole product, by sumcheck: the device meets A and B, the rounds are made here. */
async function proveProduct(
  work: Work<WorkKernels>,
  run: WorkRun,
  { marks }: Done,
  openField: () => Promise<FieldEngine>,
): Promise<Uint8Array> {
  const roots = marks.map(({ root }) => root)
  const product = productOf(work, roots)
  if (!product) throw fault('WRONG_ORDER', { what: `a sumcheck of ${work.spec.kind}` })
  return await proveGathered(await openField(), product, (name, point) => run.gather(name, point))
}

/** W12.5.1. Whether what is asked for can be proven here; whoever listens knows why the work itself could not. */
function provesSteps(device: WorkDevice, assignment: Assignment): boolean {
  const { proven } = assignment
  if (proven === null || !device.provesSteps) return false
  requireProvable(workOf(assignment, new Uint8Array(32)), proven)
  return true
}

/** W12.5. The same proofs, each told as it is made. */
const tellingSteps = (steps: ProvableSteps, send: Send): ProvableSteps => ({
  products: steps.products,
  say: async (segment) => {
    const said = await steps.say(segment)
    await send({ type: 'saidStep', segment: segment + 1, root: said.root, roots: joinBytes(said.roots) })
    return said
  },
  prove: async (segment, nonce) => {
    const proof = await steps.prove(segment, nonce)
    const { rest, products } = proof
    const lengths = { restBytes: rest.length, productsBytes: products.length }
    await send({ type: 'stepProof', segment: segment + 1, ...lengths })
    for (const [tensor, bytes] of [rest, products].entries()) await sendPieces(segment, tensor, bytes, send)
    return proof
  },
})

/** Traces for the first nonce, patches for the second; neither is other than what was committed to. */
async function open(
  work: Work<WorkKernels>,
  run: WorkRun,
  done: Done,
  { firstHash, secondHash, proven }: Assignment,
  { send, expect, first }: { readonly send: Send; readonly expect: Expect; readonly first: Uint8Array },
): Promise<void> {
  const steps = proven === null ? null : (run.proveSteps?.(proven) ?? null)
  const shown: Parameters<typeof proveWork>[2] = {
    ...(steps ? { steps: tellingSteps(steps, send) } : {}),
    trace: async (segment) => {
      const roots = await run.trace(segment)
      await send({ type: 'traced', segment: segment + 1, roots: joinBytes(roots) })
      return roots
    },
    open: async (segment, draws) => {
      const patches = await run.open(segment, draws)
      for (const [index, { leaves, proof }] of patches.entries()) {
        const bytes = concatBytes(leaves, proof)
        await send({ type: 'patch', segment: segment + 1, index, leafBytes: leaves.length, bytes })
      }
      return patches
    },
  }
  await proveWork(work, done, shown, async (draw) => {
    const nonce = draw === 0 ? first : (await expect('draw')).nonce
    const isCommitted = equalBytes(nonceCommitment(nonce), draw === 0 ? firstHash : secondHash)
    if (!isCommitted) throw fault('WRONG_ORDER', { what: 'a nonce that was not committed to' })
    return nonce
  })
}
