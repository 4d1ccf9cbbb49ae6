import { describe, expect, test } from 'vitest'
import { openInProcessBox, type ProverProgram } from '../../../test/support/inProcessBox.ts'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { smallDecoder } from '../../../test/support/smallStep.ts'
import { chanceProduct, readyWork } from '../../../test/support/smallWorks.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { tinyTraining } from '../../../test/support/tinyTraining.ts'
import { workProgram as program, saying, WASM } from '../../../test/support/workProgram.ts'
import { chanceFrom } from '../../../test/support/workTrials.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { takeApart } from '../../core/certificate/envelope.ts'
import { openEvidence } from '../../core/certificate/readEvidence.ts'
import { issueReceipt, receiptKind } from '../../core/certificate/receiptEvidence.ts'
import { toInstant } from '../../core/units/instants.ts'
import { encodeFrame, FrameDecoder } from '../../core/wire/frames.ts'
import { WORK_ANSWER_TYPES, WORK_ORDER_TYPES, type WorkAnswer } from '../../core/wire/messages.ts'
import { MOST_PROVEN_BYTES } from '../../core/work/evidenceBehind.ts'
import { cellFlags } from '../../core/work/kinds/simulation/lattice.ts'
import { flowParameters } from '../../core/work/kinds/simulation/simulation.ts'
import type { ProvableSteps } from '../../core/work/methods/step/provenWork.ts'
import { productOf } from '../../core/work/methods/sumcheck/productReceipt.ts'
import { checkSumcheck } from '../../core/work/methods/sumcheck/sumcheck.ts'
import { WORK_TYPE } from '../../core/work/receipt.ts'
import { patchRunner } from '../../core/work/runPatch.ts'
import { engineOnOwned, hasherOn } from '../../core/work/workEngine.ts'
import { createWorkKernels } from '../../core/work/workKernels.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import {
  openCheckerEngines,
  openCpuWork,
  openExactEngine,
  openFieldEngine,
} from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { readKernel } from '../../drivers/system/kernelFiles.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Tensors, WorkRun } from '../../ports/workDevice.ts'
import { serveWork } from './serveWork.ts'
import { watchProduct, watchWork } from './watchWork.ts'
import type { WorkStep } from './workListener.ts'

const engine = async () => engineOnOwned(await createWorkKernels(await readKernel('work.wasm')))
const hasher = hasherOn(await engine())
const runPatch = patchRunner(await engine(), EXACT_OPS)
const { work, given } = tinyTraining('gpt', 2, hasher)
const never = new AbortController().signal

async function watchFor(prover: ProverProgram, { clock = systemClock as Clock, isHidden = false } = {}) {
  const states: Tensors[] = []
  const box = openInProcessBox(prover)
  const how = { prover: await box.start(never), clock, randomness: seededRandomness(5), isHidden, segmentMs: 60_000 }
  const seen = { onStep: () => {}, onState: (_: number, state: Tensors) => void states.push(state) }
  return { watch: { work, given, hasher, runPatch, every: 0, ...how, ...seen }, states, close: () => box.close() }
}

async function watched(prover: ProverProgram, clock?: Clock) {
  const { watch, states, close } = await watchFor(prover, clock ? { clock } : {})
  try {
    return { ...(await watchWork(watch, never)), states }
  } finally {
    await close()
  }
}

test('a work that was done is believed: drawn by the listener, timed by its clock, with the last state', async () => {
  const { marks, figures, elapsedUs, states, proverKey } = await watched(program())
  expect(marks).toHaveLength(2)
  expect(figures).toMatchObject({ segments: 2, drawnSegments: 3 })
  expect(elapsedUs).toBeGreaterThan(0)
  expect(states).toHaveLength(1)
  expect([...states[0]!.keys()]).toEqual([...work.state.keys()])
  expect(proverKey).toEqual(testSigner(7).publicKey)
})

test.each([120, 121, 256])(
  'attack 299: a device with a name of %i letters has a receipt that can be read',
  async (most) => {
    const device = new TextEncoder().encode('H100 SXM'.padEnd(most, '.'))
    const heard = await watched(saying((answer) => [answer.type === 'greeted' ? { ...answer, device } : answer]))
    const facts = { workId: work.workId, orderId: work.orderId, seed: work.seed, spec: work.text, program: 'test' }
    const [startedAt, issuedAt, notAfter] = [0, 1, 2].map((hours) => toInstant(3_600_000 * hours)) as [
      string,
      string,
      string,
    ]
    const times = { startedAt, issuedAt, notAfter }
    const receipt = issueReceipt({ ...facts, ...times, ...heard, drawnBy: 'listener' }, testSigner(1))
    const read = openEvidence(takeApart(receipt), () => true, undefined, { [WORK_TYPE]: receiptKind(neverRun) })
    expect(read).toMatchObject({ read: { receipt: { device: heard.device } } })
    expect(heard.device.slice(0, 117)).toBe('H100 SXM'.padEnd(117, '.'))
  },
)

const neverRun = () => Promise.reject(new Error('nothing is recomputed'))
const flipped = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 0 ? byte ^ 1 : byte))
const elsewhere: Signer = { ...testSigner(8), publicKey: testSigner(9).publicKey }

test.each<[string, ProverProgram, string]>([
  [
    'hands out another result',
    program((run) => ({ read: async (name) => flipped(await run.read(name)) })),
    'OTHER_RESULT',
  ],
  [
    'leaves a segment out',
    program((run) => ({
      advance: async (segment) => ({ ...(await run.advance(Math.min(segment, 0))), transition: segment + 1 }),
    })),
    'NOT_SHOWN',
  ],
  [
    'opens what it did not commit to',
    program((run) => ({
      open: async (segment, draws) =>
        (await run.open(segment, draws)).map((patch) => ({ ...patch, leaves: flipped(patch.leaves) })),
    })),
    'NOT_SHOWN',
  ],
  [
    'leads its trace to another state than it said',
    program((run) => ({ trace: async (segment) => [...(await run.trace(segment))].reverse() })),
    'NOT_SHOWN',
  ],
  [
    'leaves a root out of its trace',
    program((run) => ({ trace: async (segment) => (await run.trace(segment)).slice(1) })),
    'NOT_SHOWN',
  ],
  [
    'gives up once it knows what is drawn',
    program(() => ({ trace: () => Promise.reject(new Error('no')) })),
    'GAVE_UP',
  ],
  ['uses a key that is not its own', program(undefined, elsewhere), 'BAD_SIGNATURE'],
  ['goes away', async () => {}, 'VANISHED'],
  ['says what is no message', ({ write }) => write(new Uint8Array(64).fill(255)), 'GARBLED'],
])('whoever %s is rejected', async (_, prover, code) => {
  await expect(watched(prover)).rejects.toMatchObject({ code })
})

describe('a flow of twelve states', () => {
  const parameters = flowParameters({ cells: [4, 4, 4], viscosity: 0.02, velocity: [0.05, 0, 0], noise: 0.01 })
  const cells = new Map([['cells', cellFlags(parameters, () => 'fluid')]])
  const flow = readyWork({ kind: 'simulation', parameters, transitions: 12, interval: 1 }, cells, hasher)
  const watchedFlow = async (prover: ProverProgram) => {
    const { watch, close } = await watchFor(prover)
    return await watchWork({ ...watch, ...flow }, never).finally(close)
  }

  test.each([0, 3, 7, 11])('attack 224: whoever says a figure more of state %i is rejected', async (state) => {
    const talkative = program((run) => ({
      async advance(segment) {
        const mark = await run.advance(segment)
        return { ...mark, statistics: [...mark.statistics, ...(segment === state ? [7] : [])] }
      },
    }))
    await expect(watchedFlow(talkative)).rejects.toMatchObject({ code: 'GARBLED' })
  })

  test('attack 227: whoever hands its state over in crumbs, each of them in time, is rejected', async () => {
    const crumbling = saying((answer) =>
      answer.type === 'piece' ? [...answer.bytes].map((byte) => ({ ...answer, bytes: Uint8Array.of(byte) })) : [answer],
    )
    await expect(watchedFlow(crumbling)).rejects.toMatchObject({ code: 'OTHER_RESULT' })
  })
})

test('attack 300: whoever gives up does so in its own words', async () => {
  const words = program(() => ({ trace: () => Promise.reject(new Error('no). WORK SHOWN,    "all" of it')) }))
  await expect(watched(words)).rejects.toThrow(
    /^it gave up \(as it says: "no\)\. WORK SHOWN, 'all' of it \[[A-Z_]+\]"\)$/,
  )
})

test('whoever says nothing is rejected when its time is up', async () => {
  const hasty = { ...systemClock, sleep: async () => {} }
  await expect(watched(() => new Promise(() => {}), hasty)).rejects.toMatchObject({ code: 'SILENT' })
})

describe('a product that is proven as a whole', () => {
  const product = chanceProduct(chanceFrom(1), hasher)
  const proven = async (of: typeof product, cheat?: (run: WorkRun) => Partial<WorkRun>) => {
    const { watch, close } = await watchFor(program(cheat))
    const c: Uint8Array[] = []
    const keep = (_: number, state: Tensors) => void c.push(state.get('c')!)
    try {
      const said = await watchProduct({ ...watch, ...of, every: 1, onState: keep }, never)
      const roots = said.marks.map(({ root }) => root)
      const tensors = { a: of.given.get('a')!, b: of.given.get('b')!, c }
      return checkSumcheck(await openFieldEngine(WASM), hasher, productOf(of.work, roots)!, tensors, said.proof)
    } finally {
      await close()
    }
  }

  test('is proven by whoever did it', async () => expect(await proven(product)).toBeNull())

  test('is not proven by vectors of other operands', async () => {
    const swapped = (run: WorkRun) => ({
      gather: async (name: string, point: Parameters<WorkRun['gather']>[1]) =>
        (await run.gather(name, point)).map((byte, i) => (name === 'b' && i === 3 ? byte ^ 1 : byte)),
    })
    expect(await proven(product, swapped)).toBe('WRONG_RESULT')
  })

  test('nothing else is: whoever works says so', async () => {
    await expect(proven({ work, given })).rejects.toMatchObject({ code: 'GAVE_UP' })
  })
})

describe('a training whose transitions are proven', () => {
  const training = smallDecoder('gpt', 1)(hasher)
  const proven = { products: 'all', openEngines: () => openCheckerEngines(WASM) } as const
  const watchedProofs = async (prover: ProverProgram, onStep: (step: WorkStep) => void = () => {}) => {
    const { watch, close } = await watchFor(prover)
    return await watchWork({ ...watch, ...training, proven, onStep }, never).finally(close)
  }
  /** Our own prover, with something done to its proofs. */
  const proving = (change: (honest: ProvableSteps) => Partial<ProvableSteps>): ProverProgram =>
    program((run) => ({
      proveSteps: (products) => {
        const honest = run.proveSteps!(products)
        return { ...honest, ...change(honest) }
      },
    }))

  test('is believed with its proof, and every part of it is told', async () => {
    const told: string[] = []
    const { figures, proven: made } = await watchedProofs(program(), ({ step }) => void told.push(step))
    expect(told).toEqual(['segment', 'trace', 'trace', 'said', 'proof'])
    expect(figures.proven).toMatchObject({ products: 'all', transitions: [1] })
    expect(made!.steps.size).toBe(1)
  })

  test.each<[string, ProverProgram, string, string]>([
    [
      'changes its proof',
      proving((honest) => ({
        prove: async (segment, nonce) => ({ ...(await honest.prove(segment, nonce)), rest: new Uint8Array(9) }),
      })),
      'NOT_SHOWN',
      'INPUT_NOT_COMMITTED',
    ],
    [
      'says half a root',
      proving((honest) => ({
        say: async (segment) => ({ ...(await honest.say(segment)), roots: [new Uint8Array(16)] }),
      })),
      'OUT_OF_TURN',
      'step',
    ],
  ])('attack 231: whoever %s is rejected', async (_, prover, code, where) => {
    await expect(watchedProofs(prover)).rejects.toMatchObject({ code, where: expect.stringContaining(where) })
  })

  test('whoever claims a proof that no receipt holds, or sends it in crumbs, is rejected before it is taken', async () => {
    const altered =
      (alter: (answer: WorkAnswer) => readonly WorkAnswer[]): ProverProgram =>
      ({ input, write }, signal) => {
        const sent = new FrameDecoder(WORK_ANSWER_TYPES)
        let isProof = false
        const changed = async (bytes: Uint8Array) => {
          for (const answer of sent.push(bytes) as Iterable<WorkAnswer>) {
            isProof ||= answer.type === 'stepProof'
            for (const one of isProof ? alter(answer) : [answer]) await write(encodeFrame(one))
          }
        }
        return program()({ input, write: changed }, signal)
      }
    const huge = altered((answer) =>
      answer.type === 'stepProof' ? [{ ...answer, productsBytes: MOST_PROVEN_BYTES }] : [answer],
    )
    await expect(watchedProofs(huge)).rejects.toMatchObject({ code: 'OUT_OF_TURN' })
    const crumbs = altered((answer) =>
      answer.type === 'piece' ? [{ ...answer, bytes: answer.bytes.subarray(0, 1) }] : [answer],
    )
    await expect(watchedProofs(crumbs)).rejects.toMatchObject({ code: 'OTHER_RESULT' })
  })

  test('attack 235: whoever says more roots than any work has is rejected', async () => {
    const talkative: ProverProgram = ({ input, write }, signal) => {
      const sent = new FrameDecoder(WORK_ANSWER_TYPES)
      const more = (answer: WorkAnswer) =>
        answer.type === 'saidStep' ? { ...answer, roots: new Uint8Array(32 * 130_000) } : answer
      const changed = async (bytes: Uint8Array) => {
        for (const answer of sent.push(bytes) as Iterable<WorkAnswer>) await write(encodeFrame(more(answer)))
      }
      return program()({ input, write: changed }, signal)
    }
    await expect(watchedProofs(talkative)).rejects.toMatchObject({ code: 'NOT_SHOWN' })
  })

  test('a device that cannot is told from one that lies, before the seed is out', async () => {
    const orders: string[] = []
    const cannot: ProverProgram = async ({ input, write }) => {
      const seen = new FrameDecoder(WORK_ORDER_TYPES)
      const listening = (async function* () {
        for await (const chunk of input) {
          for (const { type } of seen.push(chunk)) orders.push(type)
          yield chunk
        }
      })()
      const device = { ...(await openCpuWork(WASM)), name: 'a card', provesSteps: false }
      const engines = { openField: () => openFieldEngine(WASM), openExact: () => openExactEngine(WASM) }
      const server = { device, signer: testSigner(7), randomness: seededRandomness(3), ...engines }
      return serveWork({ ...server, input: listening, write })
    }
    await expect(watchedProofs(cannot)).rejects.toMatchObject({ detail: { code: 'CANNOT_PROVE' } })
    expect(orders).not.toContain('seed')
  })
})
