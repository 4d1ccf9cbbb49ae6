import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesFrom } from '../../../test/support/plainProduct.ts'
import { concatBytes } from '../bytes/bytes.ts'
import { checkPatch, type PatchEvidence, type RunPatch, showPatch } from './checkPatch.ts'
import { PLAIN_HASHER } from './engineRun.ts'
import type { Op } from './op.ts'
import type { ShapedProgram } from './program.ts'
import { leafSpan, packRegion, type Region, type TensorShape, tensorBytes } from './tensor.ts'
import type { Work } from './work.ts'

const DRAW = { transition: 0, step: 0, patch: 0 }

/** A step that copies one region, of a tensor as large as chance has it. */
const cases = fc
  .record({
    type: fc.constantFrom('i8', 'f32') as fc.Arbitrary<TensorShape['type']>,
    rows: fc.integer({ min: 1, max: 5 }),
    width: fc.constantFrom(1, 3, 255, 256, 257, 600, 1024, 1025, 2100),
  })
  .chain((shape) =>
    fc.tuple(fc.nat(shape.rows - 1), fc.nat(shape.width - 1)).chain(([row, column]) =>
      fc.record({
        shape: fc.constant(shape),
        region: fc.record({
          ...{ row: fc.constant(row), rows: fc.integer({ min: 1, max: shape.rows - row }) },
          ...{
            column: fc.constantFrom(0, column, Math.floor(column / 256) * 256),
            columns: fc.integer({ min: 1, max: shape.width - column }),
          },
        }),
        bytes: fc.nat().map((seed) => bytesFrom(`${seed}`, tensorBytes(shape))),
      }),
    ),
  )

interface Case {
  readonly shape: TensorShape
  readonly region: Region
  readonly bytes: Uint8Array
}

const leafIn = (shape: TensorShape, bytes: Uint8Array) => (leaf: number) => {
  const { start, length } = leafSpan(shape, leaf)
  return bytes.subarray(start, start + length)
}

function copying({ shape, region, bytes }: Case, out: Uint8Array) {
  const tensors = new Map([
    ['in', bytes],
    ['out', out],
  ])
  const shaped = { inputs: [shape], outputs: [shape], numbers: {} }
  const steps = [{ op: 'copy', inputs: ['in'], outputs: ['out'], numbers: {} }]
  const shapes = new Map([...tensors.keys()].map((name) => [name, shape]))
  const program: ShapedProgram = { there: shapes, steps, after: [], statistics: [], shapes, shaped: [shaped] }
  const patch = { outputs: [region], inputs: [region], numbers: {} }
  const ops = { copy: { patch: () => patch } as Partial<Op<unknown>> as Op<unknown> }
  const work = { ops, givenRoots: new Map() } as Partial<Work<unknown>> as Work<unknown>
  const rootOf = (_: number, name: string) => PLAIN_HASHER.root(shape, tensors.get(name)!)
  const runPatch: RunPatch = (_, __, ___, { inputs }) => inputs
  const [leaves, proofs]: [Uint8Array[], Uint8Array[]] = [[], []]
  showPatch(program, 0, patch, (name, of, asked, shown) => {
    proofs.push(PLAIN_HASHER.tree(of, tensors.get(name)!).prove(asked))
    leaves.push(...shown.map(leafIn(of, tensors.get(name)!)))
    return leafIn(of, tensors.get(name)!)
  })
  return {
    evidence: { leaves: concatBytes(...leaves), proof: concatBytes(...proofs) },
    check: (evidence: PatchEvidence) => checkPatch(work, program, DRAW, rootOf, evidence, runPatch),
  }
}

const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))

test('a patch is right with the leaves that it reads, and no more of what it writes than it does not write', () => {
  fc.assert(
    fc.property(cases, fc.nat(), (of, chance) => {
      const { evidence, check } = copying(of, of.bytes)
      expect(check(evidence)).toBeNull()
      const { leaves, proof } = evidence
      // What an output shows beside leaves that are made here: nobody can tell which of them is another.
      expect(check({ leaves: flipped(leaves, chance % leaves.length), proof })).toMatch(/^PATCH_(NOT_COMMITTED|WRONG)$/)
      if (proof.length > 0) expect(check({ leaves, proof: flipped(proof, chance % proof.length) })).not.toBeNull()
      expect(check({ leaves: leaves.slice(0, -1), proof })).toBe('PATCH_NOT_COMMITTED')
      expect(check({ leaves: concatBytes(leaves, Uint8Array.of(0)), proof })).toBe('PATCH_SIZE')
      expect(check({ leaves, proof: concatBytes(proof, new Uint8Array(32)) })).toBe('PATCH_SIZE')
      const { column, columns } = of.region
      if (column === 0 && columns === of.shape.width)
        expect(leaves.length).toBe(packRegion(of.shape, of.region, leafIn(of.shape, of.bytes)).length)
    }),
    { numRuns: 150 },
  )
})

test('whoever wrote one byte otherwise is wrong, whether its leaf is shown or made here', () => {
  fc.assert(
    fc.property(cases, fc.nat(), fc.nat(), (of, row, byte) => {
      const { shape, region, bytes } = of
      const size = tensorBytes({ ...shape, rows: 1, width: 1 })
      const at = ((region.row + (row % region.rows)) * shape.width + region.column) * size
      const { evidence, check } = copying(of, flipped(bytes, at + (byte % (region.columns * size))))
      expect(check(evidence)).toBe('PATCH_WRONG')
    }),
    { numRuns: 150 },
  )
})

test('what lies beside a patch in its leaves is whatever was committed', () => {
  const shape = { type: 'f32', rows: 2, width: 600 } as const
  const of = { shape, region: { row: 1, rows: 1, column: 10, columns: 300 }, bytes: new Uint8Array(4800) }
  const { evidence, check } = copying(of, flipped(of.bytes, 2400 + 4 * 9))
  expect(check(evidence)).toBeNull()
})
