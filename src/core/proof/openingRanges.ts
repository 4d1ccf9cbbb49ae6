import { devicesOf } from './part.ts'
import type { RejectReason } from './reasons.ts'
import type { TileEngine } from './tileEngine.ts'
import { type OpeningRange, type Run, rangeVerifier } from './verifyPart.ts'

/** Small enough that the last core to finish does not keep the others waiting. */
const RANGE = 16

/** Every opening of the parts that ran, cut into pieces for the cores. */
export function openingRanges({ challenge, parts }: Run): OpeningRange[] {
  return parts.flatMap((_, part) => {
    const { openings } = challenge.parts[part]!
    return devicesOf(challenge.parts[part]!).flatMap((device) =>
      Array.from({ length: Math.ceil(openings / RANGE) }, (_, i) => ({
        part,
        device,
        from: i * RANGE,
        to: Math.min((i + 1) * RANGE, openings),
      })),
    )
  })
}

/** A random sample of single openings, for a check that must be quick; `draw(n)` gives a number below n. */
export function sampleRanges(
  ranges: readonly OpeningRange[],
  count: number,
  draw: (below: number) => number,
): OpeningRange[] {
  const single = ranges.flatMap(({ from, to, ...place }) =>
    Array.from({ length: to - from }, (_, i) => ({ ...place, from: from + i, to: from + i + 1 })),
  )
  for (let i = 0; i < Math.min(count, single.length); i++) {
    const other = i + draw(single.length - i)
    const kept = single[i]!
    single[i] = single[other]!
    single[other] = kept
  }
  // In order: what openings of one device have in common is then computed once.
  return single.slice(0, count).sort((a, b) => a.part - b.part || a.device - b.device || a.from - b.from)
}

/** The first reason against any opening of a run, in one thread: for a page, and wherever nobody waits. */
export function verifyAllOpenings(run: Run, engine: TileEngine): RejectReason | null {
  const verify = rangeVerifier(run, engine)
  for (const range of openingRanges(run)) {
    const reason = verify(range)
    if (reason) return reason
  }
  return null
}
