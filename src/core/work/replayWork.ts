import { equalBytes } from '../bytes/bytes.ts'
import type { EngineRun } from './engineRun.ts'
import type { Receipt } from './receipt.ts'
import { WorkRefusal } from './refusals.ts'
import type { StateMark } from './stateChain.ts'
import type { Work } from './work.ts'
import type { WorkProblem } from './workProblems.ts'

export interface Replayed {
  readonly problem: WorkProblem | null
  /** Segments that were run again here, from the beginning on. */
  readonly segments: number
}

/** W5.2. The whole work again, from its inputs on: every state must be the one that was committed. No step can hide. */
export function replayWork<K>(
  work: Work<K>,
  { firstRoot, marks }: Pick<Receipt, 'firstRoot' | 'marks'>,
  run: Pick<EngineRun<K>, 'advance'>,
  onSegment: (segment: number) => void = () => {},
): Replayed {
  const isSame = (made: StateMark, said: Omit<StateMark, 'transition'>) =>
    equalBytes(made.root, said.root) &&
    made.statistics.length === said.statistics.length &&
    made.statistics.every((bits, i) => bits === said.statistics[i])
  const differs = (segment: number): Replayed => ({
    problem: { code: 'REPLAY_DIFFERS', segment },
    segments: Math.max(segment, 0),
  })
  if (!work.isIndependent && !isSame(run.advance(-1), { root: firstRoot, statistics: [] })) return differs(-1)
  for (const segment of work.ends.keys()) {
    const said = marks[segment]
    if (!said || !isSame(run.advance(segment), said)) return differs(segment)
    onSegment(segment)
  }
  return { problem: null, segments: work.ends.length }
}

/** W2.6.3. Its first segments, compared with nothing. Throws the refusal of a work that has no result, and says where. */
export function runSegments<K>(work: Work<K>, count: number, run: Pick<EngineRun<K>, 'advance'>): Replayed {
  for (let segment = work.isIndependent ? 0 : -1; segment < count; segment++) {
    try {
      run.advance(segment)
    } catch (error) {
      if (!(error instanceof WorkRefusal)) throw error
      throw new WorkRefusal(error.code, `in ${segment < 0 ? 'the beginning' : `segment ${segment}`}: ${error.message}`)
    }
  }
  return { problem: null, segments: count }
}
