import { joinBytes, u32le } from '../bytes/bytes.ts'
import { ByteReader, DecodeError } from '../bytes/reader.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import type { PatchEvidence } from './checkPatch.ts'
import { type SegmentEvidence, splitRoots } from './checkSegment.ts'
import { PROVEN_SEGMENTS } from './draws.ts'
import type { ProvenStep } from './methods/step/provenWork.ts'
import type { StateMark } from './stateChain.ts'

/** What of a receipt stands behind its signed line. */
export interface OpenedWork {
  /** Of every committed state, in order. */
  readonly marks: readonly Omit<StateMark, 'transition'>[]
  /** By number, ascending; -1 is the beginning. */
  readonly segments: ReadonlyMap<number, SegmentEvidence>
}

const MAX_SEGMENTS = 4096
const MAX_PATCHES = 4096
/** As many as a state has on the wire. */
const MAX_FIGURES = 16

/** W4.4.5. One spelling: numbers are u32, lengths go before what they are of. */
export function encodeOpened({ marks, segments }: OpenedWork): Uint8Array {
  const withLength = (bytes: Uint8Array) => [u32le(bytes.length), bytes]
  const figures = marks[0]?.statistics.length ?? 0
  const parts = [...segments]
    .sort(([a], [b]) => a - b)
    .flatMap(([segment, { stepsRoot, trace, patches }]) => [
      ...[u32le(segment + 1), stepsRoot, ...withLength(trace), u32le(patches.length)],
      ...patches.flatMap(({ leaves, proof }) => [...withLength(leaves), ...withLength(proof)]),
    ])
  return joinBytes([
    ...[u32le(marks.length), joinBytes(marks.map(({ root }) => root))],
    ...[u32le(figures), ...marks.flatMap(({ statistics }) => statistics.map(u32le))],
    ...[u32le(segments.size), ...parts],
  ])
}

/** Null for any other spelling. */
export const decodeOpened = (bytes: Uint8Array): OpenedWork | null => decodeWhole(bytes, openedFrom)

/** W12.5.5. The same, and proven transitions behind it. */
export const encodeProven = (opened: OpenedWork, steps: Steps): Uint8Array =>
  joinBytes([
    ...[encodeOpened(opened), u32le(steps.size)],
    ...[...steps].flatMap(([segment, { said, proof }]) => [
      ...[u32le(segment + 1), said.root, u32le(said.roots.length), ...said.roots],
      ...[u32le(proof.rest.length), proof.rest, u32le(proof.products.length), proof.products],
    ]),
  ])

/** Null for any other spelling. */
export const decodeProven = (bytes: Uint8Array): (OpenedWork & { readonly steps: Steps }) | null =>
  decodeWhole(bytes, (reader) => ({ ...openedFrom(reader), steps: stepsFrom(reader) }))

type Steps = ReadonlyMap<number, ProvenStep>

const openedFrom = (reader: ByteReader): OpenedWork => ({ marks: marksFrom(reader), segments: segmentsFrom(reader) })

function stepsFrom(reader: ByteReader): Steps {
  const steps = new Map<number, ProvenStep>()
  let last = -1
  for (let left = atMost(PROVEN_SEGMENTS, reader.u32('steps')); left > 0; left--) {
    const segment = reader.u32('segment') - 1
    if (segment <= last) throw new DecodeError('steps: each stands once, ascending')
    last = segment
    const root = reader.bytes(HASH_BYTES, 'root of the matrix')
    const roots = splitRoots(reader.bytes(HASH_BYTES * reader.u32('roots'), 'roots'))
    const rest = reader.bytes(reader.u32('rest'), 'rest')
    steps.set(segment, { said: { root, roots }, proof: { rest, products: reader.bytes(reader.u32('proof'), 'proof') } })
  }
  return steps
}

function decodeWhole<T>(bytes: Uint8Array, read: (reader: ByteReader) => T): T | null {
  try {
    const reader = new ByteReader(bytes)
    const found = read(reader)
    reader.end('evidence')
    return found
  } catch (error) {
    if (error instanceof DecodeError) return null
    throw error
  }
}

function marksFrom(reader: ByteReader): OpenedWork['marks'] {
  const roots = splitRoots(reader.bytes(HASH_BYTES * reader.u32('marks'), 'roots'))
  const figures = atMost(MAX_FIGURES, reader.u32('figures'))
  // Nothing is made of a number before its bytes are there (attack 217).
  const isThere = roots.length === 0 ? figures === 0 : 4 * figures * roots.length <= reader.left
  if (!isThere) throw new DecodeError('figures: another number of bytes')
  return roots.map((root) => ({ root, statistics: Array.from({ length: figures }, () => reader.u32('figure')) }))
}

function segmentsFrom(reader: ByteReader): OpenedWork['segments'] {
  const segments = new Map<number, SegmentEvidence>()
  let last = -2
  for (let left = atMost(MAX_SEGMENTS, reader.u32('segments')); left > 0; left--) {
    const segment = reader.u32('segment') - 1
    if (segment <= last) throw new DecodeError('segments: each stands once, ascending')
    last = segment
    segments.set(segment, {
      stepsRoot: reader.bytes(HASH_BYTES, 'root of the steps'),
      trace: reader.bytes(reader.u32('trace'), 'trace'),
      patches: patchesFrom(reader),
    })
  }
  return segments
}

function patchesFrom(reader: ByteReader): readonly PatchEvidence[] {
  const patches: PatchEvidence[] = []
  for (let left = atMost(MAX_PATCHES, reader.u32('patches')); left > 0; left--)
    patches.push({
      leaves: reader.bytes(reader.u32('leaves'), 'leaves'),
      proof: reader.bytes(reader.u32('proof'), 'proof'),
    })
  return patches
}

function atMost(most: number, count: number): number {
  if (count > most) throw new DecodeError(`${count} where at most ${most} may be`)
  return count
}
