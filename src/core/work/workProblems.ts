/** Why a receipt is not believed. */
export const WORK_PROBLEMS = {
  OTHER_WORK: { meaning: 'the receipt is about another work than its specification describes' },
  NOT_AS_DRAWN: { meaning: 'other segments were opened than the nonces draw' },
  ROOTS_MISSING: { meaning: 'of a drawn segment more or fewer roots are there than it has tensors to show' },
  ROOTS_NOT_COMMITTED: { meaning: 'the roots of opened tensors are not part of the trace that was committed' },
  STATE_BEFORE_DIFFERS: { meaning: 'a drawn segment does not begin with the state that was committed' },
  STATE_AFTER_DIFFERS: { meaning: 'a drawn segment does not end with the state that was committed' },
  STATISTICS_DIFFER: { meaning: 'loss or norm are not those that were committed' },
  PATCH_SIZE: { meaning: 'an opened patch has more or fewer bytes than its place asks for' },
  PATCH_NOT_COMMITTED: { meaning: 'an opened patch is not part of what was committed' },
  REPLAY_DIFFERS: { meaning: 'a segment that was run again here came to another state' },
  INPUT_NOT_HELD: { meaning: 'the patches can be recomputed only by whoever has the inputs of the work' },
  INPUT_FAULT: { meaning: 'an input of the work holds a number that no input may hold' },
  PATCH_WRONG: { meaning: 'a step was not computed as its definition says' },
} as const

export interface WorkProblem {
  readonly code: keyof typeof WORK_PROBLEMS
  readonly segment?: number
  readonly transition?: number
  readonly step?: string
}
