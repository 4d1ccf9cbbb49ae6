import { joinBytes, u32le } from '../bytes/bytes.ts'
import { ByteReader, DecodeError } from '../bytes/reader.ts'
import { HASH_BYTES } from '../proof/merkle.ts'
import type { PatchEvidence } from './checkPatch.ts'
import { type SegmentEvidence, splitRoots } from './checkSegment.ts'
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
export function decodeOpened(bytes: Uint8Array): OpenedWork | null {
  try {
    const reader = new ByteReader(bytes)
    const opened = { marks: marksFrom(reader), segments: segmentsFrom(reader) }
    reader.end('evidence')
    return opened
  } catch (error) {
    if (error instanceof DecodeError) return null
    throw error
  }
}

function marksFrom(reader: ByteReader): OpenedWork['marks'] {
  const roots = splitRoots(reader.bytes(HASH_BYTES * reader.u32('marks'), 'roots'))
  const figures = reader.u32('figures')
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
