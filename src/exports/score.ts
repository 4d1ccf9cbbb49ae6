/** Proven facts to one score that explains itself, and what a box lacks to join. Throws `RangeError` at what is no fact. */

import * as core from '../core/score/defaultScoreConfig.ts'
import { requireCatalogue } from './requireCatalogue.ts'

/** GPU 55 %, CPU 20 %, memory 15 %, disk 10 %, and eight of the best catalogued card as full marks. */
export const defaultScoreConfig: typeof core.defaultScoreConfig = (catalogue) => {
  requireCatalogue(catalogue)
  return core.defaultScoreConfig(catalogue)
}

export {
  type Claimed,
  claimed,
  type Fact,
  fact,
  type Inferred,
  inferred,
  type Measured,
  measured,
  type Proven,
  proven,
} from '../core/params/provenance.ts'
export { checkRequirements, type Missing, type Requirements } from '../core/score/checkRequirements.ts'
export { gpuTotals, type ScoredDevice } from '../core/score/gpuTotals.ts'
export { readScoreConfig, ScoreConfigError } from '../core/score/readScoreConfig.ts'
export {
  type BoxScore,
  type BoxScoreInput,
  type HostScoreInput,
  type ScoreTerm,
  scoreBox,
} from '../core/score/scoreBox.ts'
export { FULL_SCORE, type ScoreConfig } from '../core/score/scoreConfig.ts'
export { shareAtAge } from '../core/score/shareAtAge.ts'
