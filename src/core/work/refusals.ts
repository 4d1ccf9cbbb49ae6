/** Why a work is refused before it starts, or a receipt is not believed. Codes are stable and public. */
export const WORK_REFUSALS = {
  BAD_SPEC: {
    meaning: 'the specification of the work is malformed, or not in its one spelling',
    nextStep: 'Change the parameters to what "touchstone work run --help" allows.',
  },
  UNKNOWN_KIND: {
    meaning: 'no kind of work has this name',
    nextStep: 'See "touchstone work run --help" for the kinds.',
  },
  TOO_BIG: { meaning: 'the work is larger than its kind allows', nextStep: 'Ask for less, or split the work.' },
  BAD_SHAPE: {
    meaning: 'tensors of the work do not fit each other',
    nextStep: 'Compare the shapes of the inputs with the parameters.',
  },
  BAD_INPUT: {
    meaning: 'an input is not what the specification names',
    nextStep: 'Fetch the input again; its root must be the one in the specification.',
  },
  FAULT: {
    meaning: 'a number left the range of the arithmetic',
    nextStep: 'Lower the learning rate, or the speed of a flow, or mend the inputs: the work ends at this transition.',
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly nextStep: string }>>

export type WorkRefusalCode = keyof typeof WORK_REFUSALS

/** Thrown before any work is done; `what` is in our own words. */
export class WorkRefusal extends Error {
  override readonly name = 'WorkRefusal'
  readonly code: WorkRefusalCode

  constructor(code: WorkRefusalCode, what: string) {
    super(what)
    this.code = code
  }
}

export function requireThat(holds: boolean, code: WorkRefusalCode, what: string): asserts holds {
  if (!holds) throw new WorkRefusal(code, what)
}
