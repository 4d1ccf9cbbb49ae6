/** Proven facts to one score that explains itself, and what a box lacks to join. */
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
export { defaultScoreConfig } from '../core/score/defaultScoreConfig.ts'
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
