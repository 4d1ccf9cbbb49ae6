import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concatBytes, equalBytes } from '../bytes/bytes.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { sha256 } from '../bytes/sha256.ts'
import { nodeHash } from '../proof/merkle.ts'
import type { ShapedProgram } from './program.ts'
import { showTrace } from './proveWork.ts'
import { decodeOpened, encodeOpened, type OpenedWork } from './receiptBytes.ts'
import { stateRoot } from './stateChain.ts'
import { levelsOver, rootOver } from './tensorTree.ts'
import { openTrace, placeRoots, readTrace, type TracedSegment, tracedSegment, traceRoot } from './trace.ts'
import type { Work } from './work.ts'

const bytesOf = (hex: string) => fromHex(hex, hex.length / 2)!
const vectors = JSON.parse(readFileSync(new URL('../../../test/vectors/trace.json', import.meta.url), 'utf8'))

interface Transition {
  readonly outputs: readonly string[]
  readonly after: readonly string[]
  readonly figures: readonly string[]
}

interface Vector extends Omit<Asked, 'given'> {
  readonly name: string
  readonly given: Readonly<Record<string, string>>
  readonly said: readonly string[]
  readonly touched: { readonly transition: number; readonly names: readonly string[] }
}

interface Asked {
  readonly state: readonly string[]
  readonly given: ReadonlyMap<string, Uint8Array>
  readonly transitions: readonly Transition[]
}

const BYTE = { type: 'u8', rows: 1, width: 1 } as const

/** A segment by names alone: each output is a step of its own, the first of which reads all that a patch may touch. */
function segmentOf({ state, given, transitions }: Asked, said: readonly Uint8Array[], touched: readonly string[]) {
  const programs = transitions.map(({ outputs, after, figures }) => ({
    ...{ after, statistics: figures, there: new Map(), shapes: new Map() },
    steps: outputs.map((name) => ({ op: '', inputs: touched, outputs: [name], numbers: {} })),
    shaped: outputs.map(() => ({ inputs: [], outputs: [BYTE], numbers: {} })),
  })) as readonly ShapedProgram[]
  const work = {
    ...{ state: new Map(state.map((name) => [name, BYTE])), givenRoots: given, isIndependent: state.length === 0 },
    ...{ ends: [transitions.length], transition: (number: number) => programs[number - 1]! },
  } as Partial<Work<unknown>> as Work<unknown>
  const blank = { before: new Uint8Array(32), after: { transition: 1, root: new Uint8Array(32), statistics: [] } }
  const { plan } = tracedSegment(work, 0, blank)
  const placed = placeRoots(plan, said)!
  const [before, , after] = plan.counts
  const root = stateRoot(placed.slice(placed.length - after))
  const ends = { before: before ? stateRoot(placed.slice(0, before)) : blank.before, after: { ...blank.after, root } }
  return { traced: tracedSegment(work, 0, ends), placed }
}

describe('vectors of a second implementation', () => {
  test.each<Vector>(vectors.traces)('$name', (vector) => {
    const { name: _, state, given, transitions, said, touched, ...expected } = vector
    const roots: readonly Uint8Array[] = said.map(bytesOf)
    const asked = { state, given: new Map(Object.entries(given).map(([name, root]) => [name, bytesOf(root)])) }
    const { traced, placed } = segmentOf({ ...asked, transitions }, roots, touched.names)
    // The step that is drawn writes something that was touched already.
    const outputs: readonly string[] = transitions[touched.transition]!.outputs
    const step = outputs.findIndex((name) => touched.names.includes(name))
    const draws = [{ transition: touched.transition, step, patch: 0 }]
    const { stepsRoot, trace } = showTrace(traced, roots).opened(draws)
    const found = { beforeRoot: traced.ends.before!, stepsRoot, afterRoot: traced.ends.after.root }
    const hexes = Object.fromEntries(Object.entries(found).map(([name, root]) => [name, toHex(root)]))
    expect({ ...hexes, traceRoot: toHex(traceRoot(traced, stepsRoot)), shown: toHex(trace) }).toEqual(expected)
    const read = readTrace(traced, draws, { stepsRoot, trace })
    expect('code' in read ? read : [...read].every(([place, root]) => equalBytes(root, placed[place]!))).toBe(true)
  })

  test('the evidence of a receipt, as bytes', () => {
    for (const { marks, segments, bytes } of vectors.evidence) {
      const opened: OpenedWork = {
        marks: marks.map(({ root, figures }: never) => ({ root: bytesOf(root), statistics: figures })),
        segments: new Map(
          segments.map(({ segment, stepsRoot, trace, patches }: never) => [
            segment,
            {
              ...{ stepsRoot: bytesOf(stepsRoot), trace: bytesOf(trace) },
              patches: (patches as { leaves: string; proof: string }[]).map(({ leaves, proof }) => ({
                leaves: bytesOf(leaves),
                proof: bytesOf(proof),
              })),
            },
          ]),
        ),
      }
      expect(toHex(encodeOpened(opened))).toBe(bytes)
      expect(decodeOpened(bytesOf(bytes))).toEqual(opened)
    }
  })
})

/** Segments of any form: a state may keep tensors, have one twice, or hold what was given. */
const segments = fc
  .record({
    state: fc.nat(5),
    outputs: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
    chosen: fc.array(fc.nat(), { minLength: 5, maxLength: 5 }),
    touched: fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
    at: fc.nat(),
  })
  .map(({ state, outputs, chosen, touched, at }) => {
    const names = Array.from({ length: state }, (_, i) => `state ${i}`)
    const given = new Map([['given', sha256(Uint8Array.of(99))]])
    const known = (count: number) => [...names, 'given', ...Array.from({ length: count }, (_, i) => `out ${i}`)]
    const after = (count: number) => names.map((_, i) => known(count)[chosen[i]! % known(count).length]!)
    const transitions = outputs.map((count) => ({
      outputs: Array.from({ length: count }, (_, i) => `out ${i}`),
      after: state === 0 ? ['out 0'] : after(count),
      figures: [],
    }))
    const count = state + outputs.reduce((sum, one) => sum + one, 0)
    const said = Array.from({ length: count }, (_, i) => sha256(Uint8Array.of(i & 255, i >> 8)))
    const transition = at % outputs.length
    const reads = [...new Set(touched.map((one) => known(0)[one % known(0).length]!))]
    const draws = [{ transition, step: at % outputs[transition]!, patch: 0 }]
    return { ...segmentOf({ state: names, given, transitions }, said, reads), said, draws }
  })

const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at % bytes.length ? byte ^ 1 : byte))
const codeOf = (found: ReturnType<typeof readTrace>) => ('code' in found ? found.code : null)

describe('a trace', () => {
  test('is read as it was shown, and no byte of it can be another, fewer or more', () => {
    fc.assert(
      fc.property(segments, fc.nat(), ({ traced, said, draws, placed }, at) => {
        const evidence = showTrace(traced, said).opened(draws)
        const read = readTrace(traced, draws, evidence)
        expect(codeOf(read)).toBeNull()
        for (const [place, root] of read as ReadonlyMap<number, Uint8Array>) expect(root).toEqual(placed[place])
        const { trace } = evidence
        const others = [trace.slice(0, -1), concatBytes(trace, trace.slice(0, 32)), new Uint8Array()]
        for (const other of trace.length === 0 ? [Uint8Array.of(0)] : [...others, flipped(trace, at)])
          expect(codeOf(readTrace(traced, draws, { ...evidence, trace: other }))).not.toBeNull()
      }),
      { numRuns: 150 },
    )
  })

  test('has another root where any root of it is another', () => {
    fc.assert(
      fc.property(segments, fc.nat(), ({ traced, said }, at) => {
        const root = (roots: readonly Uint8Array[], { plan, ends } = traced) => {
          const placed = placeRoots(plan, roots)!
          const [before, , after] = plan.counts
          const shown = { before: before ? stateRoot(placed.slice(0, before)) : ends.before }
          const made = { ...ends.after, root: stateRoot(placed.slice(placed.length - after)) }
          return toHex(traceRoot({ plan, ends: { ...shown, after: made } }, showTrace(traced, roots).stepsRoot))
        }
        const other = said.map((one, i) => (i === at % said.length ? flipped(one, at) : one))
        expect(root(other)).not.toBe(root(said))
        expect(placeRoots(traced.plan, said.slice(1))).toBeNull()
        expect(placeRoots(traced.plan, [...said, said[0]!])).toBeNull()
      }),
      { numRuns: 100 },
    )
  })
})

const named = (count: number) => Array.from({ length: count }, (_, i) => `out ${i}`)
/** A state of two, eleven outputs, two of which are the next state: nine in the tree of the steps. */
const cheated = () => {
  const said = Array.from({ length: 13 }, (_, i) => sha256(Uint8Array.of(i)))
  const asked = { state: ['w', 'm'], given: new Map<string, Uint8Array>() }
  const transitions = [{ outputs: named(11), after: ['out 9', 'out 10'], figures: [] }]
  return { ...segmentOf({ ...asked, transitions }, said, ['w', 'out 2']), said }
}
const draws = [{ transition: 0, step: 8, patch: 0 }]
/** What a receipt would hold whose trees are over other roots. */
const shownOver = (traced: TracedSegment, placed: readonly Uint8Array[]) => ({
  stepsRoot: rootOver(placed.slice(2, 11)),
  trace: openTrace(traced, draws, placed),
})

describe('attack 214: the roots of a segment', () => {
  const { traced, placed } = cheated()
  const other = (change: (roots: Uint8Array[]) => void) => {
    const roots = [...placed]
    change(roots)
    return codeOf(readTrace(traced, draws, shownOver(traced, roots)))
  }

  test('of the state before and after are those that were committed, wherever the trace says otherwise', () => {
    expect(other(() => {})).toBeNull()
    expect(other((roots) => roots.splice(0, 2, roots[1]!, roots[0]!))).toBe('STATE_BEFORE_DIFFERS')
    expect(other((roots) => roots.splice(0, 1, roots[2]!))).toBe('STATE_BEFORE_DIFFERS')
  })

  test('of what a state keeps, has twice or was given are the same in both places', () => {
    const said = Array.from({ length: 4 }, (_, i) => sha256(Uint8Array.of(i)))
    const asked = { state: ['w', 'k', 'v'], given: new Map([['x', sha256(Uint8Array.of(9))]]) }
    for (const after of [
      ['out 0', 'k', 'v'],
      ['out 0', 'out 0', 'v'],
      ['out 0', 'k', 'x'],
    ]) {
      const { traced, placed } = segmentOf(
        { ...asked, transitions: [{ outputs: ['out 0'], after, figures: [] }] },
        said,
        [],
      )
      const draws = [{ transition: 0, step: 0, patch: 0 }]
      const codeWith = (roots: readonly Uint8Array[]) => {
        const root = stateRoot(roots.slice(3))
        const other = { ...traced, ends: { ...traced.ends, after: { ...traced.ends.after, root } } }
        const shown = { stepsRoot: new Uint8Array(32), trace: openTrace(other, draws, roots) }
        return codeOf(readTrace(other, draws, shown))
      }
      expect(codeWith(placed)).toBeNull()
      for (const at of [4, 5])
        expect(codeWith(placed.map((root, i) => (i === at ? sha256(root) : root)))).toBe('STATE_AFTER_DIFFERS')
    }
  })

  test('are in the tree once and at their places: one that is doubled or moved makes another draw', () => {
    const honest = traceRoot(traced, shownOver(traced, placed).stepsRoot)
    for (const [from, to] of [
      [4, 5],
      [10, 2],
    ]) {
      const roots = [...placed]
      roots[to!] = placed[from!]!
      const { stepsRoot } = shownOver(traced, roots)
      expect(traceRoot(traced, stepsRoot)).not.toEqual(honest)
      // Under the root that was drawn from, the tree of another order opens nothing.
      const shown = { ...shownOver(traced, roots), stepsRoot: shownOver(traced, placed).stepsRoot }
      expect(codeOf(readTrace(traced, draws, shown))).toBe('ROOTS_NOT_COMMITTED')
    }
  })
})

describe('attack 215: a tree of more roots than the segment has', () => {
  const { traced, placed, said } = cheated()

  test('is refused where its padding is seen, with a right root over it', () => {
    const nine = placed.slice(2, 11)
    const ten = levelsOver([...nine, sha256(Uint8Array.of(77))])
    const at = (level: number, i: number) => ten[level]![i]!
    const leaves = [2, 8]
    // As in W4.1.3, from the larger tree: neighbours of 2 and 8, then of their parents, and so on.
    const beside = [at(0, 3), at(0, 9), at(1, 0), at(1, 5), at(2, 1), at(2, 3)]
    const before = [placed[0]!, placed[1]!]
    const steps = [...leaves.map((leaf) => nine[leaf]!), ...beside]
    const stepsRoot = ten.at(-1)![0]!
    expect(codeOf(readTrace(traced, draws, { stepsRoot, trace: concatBytes(...before, ...steps) }))).toBe(
      'ROOTS_NOT_COMMITTED',
    )
    const padded = [at(0, 3), new Uint8Array(32), ...beside.slice(2)]
    const honest = { stepsRoot: rootOver(nine), trace: concatBytes(...before, ...steps.slice(0, 2), ...padded) }
    expect(codeOf(readTrace(traced, draws, honest))).toBeNull()
    expect(equalBytes(padded[3]!, nodeHash(new Uint8Array(32), new Uint8Array(32)))).toBe(true)
  })

  test('a segment of one output, which is its state, has no root of steps to choose', () => {
    const asked = { state: [], given: new Map<string, Uint8Array>() }
    const said = [sha256(Uint8Array.of(1))]
    const one = segmentOf({ ...asked, transitions: [{ outputs: ['c'], after: ['c'], figures: [] }] }, said, ['c'])
    const drawn = [{ transition: 0, step: 0, patch: 0 }]
    const shown = showTrace(one.traced, said).opened(drawn)
    expect(codeOf(readTrace(one.traced, drawn, shown))).toBeNull()
    const chosen = { ...shown, stepsRoot: sha256(Uint8Array.of(2)) }
    expect(codeOf(readTrace(one.traced, drawn, chosen))).toBe('ROOTS_NOT_COMMITTED')
  })

  test('and its number of roots is part of what draws', () => {
    const [before, steps, after] = traced.plan.counts
    const more = { ...traced, plan: { ...traced.plan, counts: [before, steps + 1, after] as const } }
    const { stepsRoot } = showTrace(traced, said)
    expect(traceRoot(more, stepsRoot)).not.toEqual(traceRoot(traced, stepsRoot))
  })
})

const roots = fc.uint8Array({ minLength: 32, maxLength: 32 })
const openedWorks: fc.Arbitrary<OpenedWork> = fc.nat(3).chain((figures) =>
  fc.record({
    marks: fc.array(
      fc.record({ root: roots, statistics: fc.array(fc.nat(2 ** 32 - 1), { minLength: figures, maxLength: figures }) }),
      { maxLength: 4 },
    ),
    segments: fc
      .uniqueArray(
        fc.record({
          segment: fc.integer({ min: -1, max: 9 }),
          ...{ stepsRoot: roots, trace: fc.uint8Array({ maxLength: 9 }) },
          patches: fc.array(
            fc.record({ leaves: fc.uint8Array({ maxLength: 9 }), proof: fc.uint8Array({ maxLength: 9 }) }),
            { maxLength: 3 },
          ),
        }),
        { maxLength: 4, selector: ({ segment }) => segment },
      )
      .map((all) => all.sort((a, b) => a.segment - b.segment))
      .map((all) => new Map(all.map(({ segment, ...evidence }) => [segment, evidence]))),
  }),
)

describe('the evidence of a receipt', () => {
  test('is written in one way, and read from no other', () => {
    fc.assert(
      fc.property(openedWorks, fc.nat(), (opened, at) => {
        const bytes = encodeOpened(opened)
        expect(encodeOpened(decodeOpened(bytes)!)).toEqual(bytes)
        expect(decodeOpened(bytes.slice(0, at % bytes.length))).toBeNull()
        expect(decodeOpened(concatBytes(bytes, Uint8Array.of(at & 255)))).toBeNull()
        const other = decodeOpened(flipped(bytes, at))
        if (other) expect(encodeOpened(other)).toEqual(flipped(bytes, at))
      }),
      { numRuns: 300 },
    )
  })

  test('has each segment once, ascending', () => {
    const [stepsRoot, patches] = [new Uint8Array(32), []]
    const one = { stepsRoot, trace: new Uint8Array(), patches }
    const bytes = encodeOpened({ marks: [], segments: new Map([0, 1].map((segment) => [segment, one])) })
    const second = 12 + (bytes.length - 12) / 2
    for (const number of [1, 0]) {
      const other = bytes.slice()
      other[second] = number
      expect(decodeOpened(other)).toBeNull()
    }
  })

  test.each([0, 4, 8, 48, 52])(
    'attack 217: a count of 2^32 - 1 at byte %d is refused before anything is made of it',
    (at) => {
      const one = { stepsRoot: new Uint8Array(32), trace: new Uint8Array(), patches: [] }
      const bytes = encodeOpened({ marks: [], segments: new Map([[0, one]]) })
      bytes.set([255, 255, 255, 255], at)
      expect(decodeOpened(bytes)).toBeNull()
    },
  )
})
