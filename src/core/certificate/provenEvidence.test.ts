import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ProvenChange, provenReceipt } from '../../../test/support/provenReceipt.ts'
import { smallDecoder } from '../../../test/support/smallStep.ts'
import { concatBytes } from '../bytes/bytes.ts'
import { signerFrom } from '../bytes/ed25519.ts'
import { toHex } from '../bytes/hex.ts'
import { sha256 } from '../bytes/sha256.ts'
import { toInstant, toMillis } from '../units/instants.ts'
import { PLAIN_HASHER } from '../work/engineRun.ts'
import { describeEvidence, MOST_PROVEN_BYTES } from '../work/evidenceBehind.ts'
import type { ProvenStep } from '../work/methods/step/provenWork.ts'
import type { WorkOp } from '../work/ops/shapes.ts'
import type { Ops } from '../work/program.ts'
import { PROVEN_TYPE, type Receipt, stateReceipt, WORK_TYPE } from '../work/receipt.ts'
import { decodeProven, encodeProven } from '../work/receiptBytes.ts'
import { patchRunner } from '../work/runPatch.ts'
import { neededOfWork } from '../work/work.ts'
import { type ExactEngine, engineOnOwned, hasherOn, stepEngineOnOwned } from '../work/workEngine.ts'
import { createWorkKernels, type WorkKernels } from '../work/workKernels.ts'
import { EXACT_OPS } from '../work/workOps.ts'
import { checkCertificate, type ReaderRules } from './checkCertificate.ts'
import { sealEnvelope, sealReceipt } from './envelope.ts'
import { issueReceipt, provenKind, receiptKind } from './receiptEvidence.ts'

const wasm = readFileSync(new URL('../../../kernels/built/work.wasm', import.meta.url))
/** The memory that kernels work on. */
const views = new Map<WorkKernels, ExactEngine['view']>()
const open = {
  exact: async () => {
    const engine = engineOnOwned(await createWorkKernels(wasm))
    views.set(engine.kernels, engine.view)
    return engine
  },
  step: async () => stepEngineOnOwned(await createWorkKernels(wasm)),
}
const signer = signerFrom(sha256(Uint8Array.of(7)))
const watcher = signerFrom(sha256(Uint8Array.of(8)))
const ISSUED_MS = toMillis('2026-01-01T00:00:00.000Z')
const at = (ms: number) => toInstant(ISSUED_MS + ms)

async function made(change: ProvenChange = {}): Promise<Receipt> {
  const times = { startedAt: at(-1000), issuedAt: at(0), notAfter: at(86_400_000) }
  return { ...(await provenReceipt(smallDecoder('gpt', 3), open, change)), ...times, proverKey: signer.publicKey }
}

let honest: Receipt
let runPatch: ReturnType<typeof patchRunner>
let engines: Awaited<ReturnType<typeof openEngines>>
const openEngines = async () => ({
  exact: await open.exact(),
  step: await open.step(),
  hasher: hasherOn(await open.exact()),
})
beforeAll(async () => {
  engines = await openEngines()
  runPatch = patchRunner(await open.exact(), EXACT_OPS)
  honest = await made()
})

async function checked(file: Uint8Array, revocations: ReaderRules['revocations'] = []) {
  const rules: ReaderRules = {
    ...{
      nowMs: ISSUED_MS,
      trusted: [signer, watcher].map(({ publicKey }) => publicKey),
      revocations,
      threshold: 1,
      required: [],
      prover: null,
    },
    ...{ maxAgeSeconds: null, catalogue: { models: [], classes: [] } as never },
    kinds: {
      [WORK_TYPE]: receiptKind(async () => runPatch),
      [PROVEN_TYPE]: provenKind(async () => ({ runPatch, engines })),
    },
  }
  return await checkCertificate(file, rules, () => null)
}
const judged = async (file: Uint8Array, revocations: ReaderRules['revocations'] = []) => {
  const { problem, doubts } = await checked(file, revocations)
  return problem ? `${problem.code} ${problem.where ?? ''}`.trim() : doubts.map(({ code }) => code).join() || 'holds'
}
const judgedReceipt = (receipt: Receipt) => judged(issueReceipt(receipt, watcher))

type Step = readonly [number, ProvenStep]

/** The same receipt with other steps: of three segments two are drawn. */
const withSteps = (receipt: Receipt, change: (first: Step, second: Step) => readonly Step[]): Receipt => {
  const [first, second] = receipt.proven!.steps
  return { ...receipt, proven: { ...receipt.proven!, steps: new Map(change(first!, second!)) } }
}
/** The same with one of its two steps changed. */
const withFirst = (change: (step: ProvenStep) => ProvenStep) =>
  withSteps(honest, ([segment, step], second) => [[segment, change(step)], second])
const flipped = (bytes: Uint8Array, place = 0) => bytes.map((byte, i) => (i === place ? byte ^ 1 : byte))

test('a receipt with proven transitions holds, tells which and how surely, and is credited as by openings', async () => {
  const found = await checked(issueReceipt(honest, watcher))
  expect(found).toMatchObject({ kind: 'receipt', problem: null, doubts: [] })
  const { figures } = found as Extract<typeof found, { kind: 'receipt' }>
  expect(figures).toMatchObject({ transitions: 3, drawnSegments: 4, liveShare: 1 })
  expect(figures.credited).toBe(neededOfWork(smallDecoder('gpt', 3)(PLAIN_HASHER).work))
  expect(figures.proven).toMatchObject({ products: 'shared' })
  expect(figures.proven!.transitions).toHaveLength(2)
  expect(figures.proven!.log2Error).toBeLessThan(-100)
})

test('attack 414: a device that drew for itself, or that alone says that somebody listened, establishes nothing', async () => {
  const own = (receipt: Receipt) => judged(issueReceipt(receipt, signer))
  expect(await own({ ...honest, drawnBy: 'device', elapsedUs: null })).toBe('SELF_DRAWN')
  expect(await own(honest)).toBe('SELF_DRAWN')
  expect(await judgedReceipt(honest)).toBe('holds')
})

test('attack 416: nor does a key that was revoked, or another key of the prover by its reader’s list, watch it', async () => {
  const { statement, evidence } = stateReceipt(honest)
  const line = sealEnvelope(new TextEncoder().encode(JSON.stringify(statement)), signer, watcher)
  const both = concatBytes(new TextEncoder().encode(line), evidence)
  expect(await judged(both)).toBe('holds')
  const [own, other] = [signer, watcher].map(({ publicKey }) => toHex(publicKey)) as [string, string]
  for (const since of [at(-86_400_000), at(86_400_000)])
    expect(await judged(both, [{ key: other, status: 'revoked', since }])).toBe('SELF_DRAWN')
  const successor = { key: own, status: 'rotated', since: at(86_400_000), successor: other } as const
  expect(await judged(both, [successor])).toBe('SELF_DRAWN')
})

describe('attack 231: refused, its signer willing, is', () => {
  test('one without its proofs, with one of them, or as a receipt by openings', async () => {
    expect(await judgedReceipt(withSteps(honest, () => []))).toBe('WORK_NOT_SHOWN NOT_AS_DRAWN')
    expect(await judgedReceipt(withSteps(honest, (_, second) => [second]))).toBe('WORK_NOT_SHOWN NOT_AS_DRAWN')
    const { proven: _, ...opened } = honest
    // Its second draw was bound to what was said of transitions.
    expect(await judgedReceipt(opened)).toMatch(/^WORK_NOT_SHOWN /)
  })

  test('the proof of another transition', async () => {
    const swapped = withSteps(honest, ([a, first], [b, second]) => [
      [a, second],
      [b, first],
    ])
    expect(await judgedReceipt(swapped)).toMatch(/^WORK_NOT_SHOWN /)
    const proofs = withSteps(honest, ([a, first], [b, second]) => [
      [a, { ...first, proof: second.proof }],
      [b, { ...second, proof: first.proof }],
    ])
    expect(await judgedReceipt(proofs)).toMatch(/^WORK_NOT_SHOWN \w+, proof of transition \d/)
    const undrawn = [0, 1, 2].find((segment) => !honest.proven!.steps.has(segment))!
    const elsewhere = withSteps(honest, ([, step], second) =>
      [[undrawn, step] as const, second].sort(([a], [b]) => a - b),
    )
    expect(await judgedReceipt(elsewhere)).toBe('WORK_NOT_SHOWN NOT_AS_DRAWN')
  })

  test('a proof that answers other nonces', async () => {
    const other = await made({ nonces: [1, 3] })
    expect(await judgedReceipt({ ...honest, proven: other.proven! })).toMatch(
      /^WORK_NOT_SHOWN \w+, proof of transition/,
    )
    const [first, second] = honest.nonces
    for (const nonces of [
      [flipped(first), second],
      [first, flipped(second)],
    ] as const)
      expect(await judgedReceipt({ ...honest, nonces })).toMatch(/^WORK_NOT_SHOWN /)
  })

  test('what was said anew once the draw was known', async () => {
    for (const change of [
      ({ said, proof }: ProvenStep) => ({ proof, said: { ...said, root: flipped(said.root) } }),
      ({ said, proof }: ProvenStep) => ({ proof, said: { ...said, roots: said.roots.with(-1, flipped(said.root)) } }),
      ({ said, proof }: ProvenStep) => ({ proof, said: { ...said, roots: said.roots.slice(1) } }),
    ])
      expect(await judgedReceipt(withFirst(change))).toMatch(/^WORK_NOT_SHOWN /)
  })

  test('a proof with a byte fewer, or one more', async () => {
    const changed = (part: 'rest' | 'products', change: (bytes: Uint8Array) => Uint8Array) =>
      judgedReceipt(withFirst(({ said, proof }) => ({ said, proof: { ...proof, [part]: change(proof[part]) } })))
    expect(await changed('rest', (bytes) => concatBytes(bytes, Uint8Array.of(0)))).toContain('PROOF_SIZE, proof of')
    expect(await changed('products', (bytes) => bytes.slice(0, -1))).toContain('BAD_OPENING, proof of')
  })

  test('states that do not join', async () => {
    const [segment] = honest.proven!.steps.keys()
    const marks = honest.marks.map((mark, i) => (i === segment ? { ...mark, root: flipped(mark.root) } : mark))
    expect(await judgedReceipt({ ...honest, marks })).toMatch(/^WORK_NOT_SHOWN /)
    expect(await judgedReceipt({ ...honest, firstRoot: flipped(honest.firstRoot) })).toMatch(/^WORK_NOT_SHOWN /)
  })

  test('a proof of some products as one of all', async () => {
    const { steps } = honest.proven!
    expect(await judgedReceipt({ ...honest, proven: { products: 'all', steps } })).toMatch(/proof of transition/)
  })

  test('one of a work that has no such transitions', async () => {
    const spec = honest.spec.replace('"sequences":4', '"sequences":4,"shards":2')
    expect(spec).not.toBe(honest.spec)
    expect(await judgedReceipt({ ...honest, spec })).toMatch(/^BAD_WORK /)
  })
})

test('attack 235: more roots and figures than any work has are refused, and nothing is thrown', async () => {
  const many = Array.from({ length: 130_000 }, () => honest.firstRoot)
  const roots = withFirst(({ said, proof }) => ({ proof, said: { ...said, roots: many } }))
  expect(await judgedReceipt(roots)).toMatch(/^WORK_NOT_SHOWN /)
  const marks = honest.marks.map((mark) => ({ ...mark, statistics: many.map(() => 0) }))
  const { proven: _, ...opened } = honest
  for (const receipt of [honest, opened]) expect(await judgedReceipt({ ...receipt, marks })).toBe('MALFORMED evidence')
})

describe('behind its line', () => {
  /** Signed by whoever made it, whatever it says of its evidence. */
  const claiming = (said: object, evidence: Uint8Array) => {
    const { statement } = stateReceipt(honest)
    const predicate = { ...statement.predicate, ...said }
    return sealReceipt({ statement: { ...statement, predicate }, evidence }, signer)
  }

  test('nothing is made of a length before the bytes are there', async () => {
    const { evidence } = stateReceipt(honest)
    const { sha256: hash } = describeEvidence(evidence)
    for (const [bytes, code] of [
      [MOST_PROVEN_BYTES, 'TRUNCATED'],
      [MOST_PROVEN_BYTES + 1, 'MALFORMED'],
      [-1, 'MALFORMED'],
      [0, 'OTHER_EVIDENCE'],
    ] as const)
      expect(await judged(claiming({ evidence: { bytes, sha256: hash } }, evidence))).toContain(code)
    for (const bytes of [evidence.slice(0, -1), concatBytes(evidence, Uint8Array.of(0))])
      expect(await judged(claiming({ evidence: describeEvidence(bytes) }, bytes))).toBe('MALFORMED evidence')
  })

  test('evidence has one spelling, whatever it holds', () => {
    const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const bytes = fc.uint8Array({ maxLength: 40 })
    const step = fc.record({
      said: fc.record({ root: hash, roots: fc.array(hash, { maxLength: 3 }) }),
      proof: fc.record({ rest: bytes, products: bytes }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 2 }), fc.nat(), (all, place) => {
        const steps = new Map(all.map((one, i) => [3 * i, one]))
        const spelled = encodeProven({ marks: [], segments: new Map() }, steps)
        expect(decodeProven(spelled)).toEqual({ marks: [], segments: new Map(), steps })
        expect(decodeProven(spelled.slice(0, place % spelled.length))).toBeNull()
        expect(decodeProven(concatBytes(spelled, Uint8Array.of(place & 255)))).toBeNull()
        const other = decodeProven(flipped(spelled, place % spelled.length))
        if (other) expect(encodeProven(other, other.steps)).toEqual(flipped(spelled, place % spelled.length))
      }),
      { numRuns: 200 },
    )
  })

  test('segments stand once, ascending, and no more than are drawn', () => {
    const step = {
      said: { root: new Uint8Array(32), roots: [] },
      proof: { rest: new Uint8Array(), products: new Uint8Array() },
    }
    const spelled = (...segments: number[]) => {
      const each = segments.map((segment) =>
        encodeProven({ marks: [], segments: new Map() }, new Map([[segment, step]])),
      )
      const head = each[0]!.slice(0, -48)
      head.set([segments.length, 0, 0, 0], head.length - 4)
      return concatBytes(head, ...each.map((one) => one.slice(-48)))
    }
    expect(decodeProven(spelled(1, 2))?.steps.size).toBe(2)
    for (const segments of [
      [1, 1],
      [2, 1],
      [0, 1, 2],
    ])
      expect(decodeProven(spelled(...segments))).toBeNull()
  })
})

/** Turns the sign of one entry of the gradient of a matrix wherever it is made, whole or before its scales. */
function lyingOps(): Ops<WorkKernels> {
  const lying = (op: WorkOp, turn: (entry: DataView) => void): WorkOp => ({
    ...op,
    run(kernels, call) {
      const fault = op.run(kernels, call)
      const { at, shape } = call.outputs[0]!
      const entry = views.get(kernels)!(at, 4)
      if (shape.rows === 24 && shape.width === 16) turn(new DataView(entry.buffer, entry.byteOffset))
      return fault
    },
  })
  return {
    ...EXACT_OPS,
    productPieces: lying(EXACT_OPS.productPieces!, (entry) => entry.setFloat32(0, -entry.getFloat32(0, true), true)),
    product: lying(EXACT_OPS.product!, (entry) => entry.setInt32(0, -entry.getInt32(0, true), true)),
  }
}

test('attack 232: one wrong entry of a gradient, of which openings see nothing, is found by the proof', async () => {
  const cheat = await made({ ops: lyingOps() })
  expect(cheat.marks.at(-1)!.root).not.toEqual(honest.marks.at(-1)!.root)
  // Every drawn patch was recomputed before.
  expect(await judgedReceipt(cheat)).toMatch(/^WORK_NOT_SHOWN WRONG_VALUE, proof of transition/)
})
