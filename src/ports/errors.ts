/** Whose fault a fault is: it decides who is told what to do, and never touches a score by itself. */
export type Blame = 'user' | 'prover' | 'validator' | 'network'

export interface FaultOptions {
  readonly message: string
  readonly blame: Blame
  /** Would the same call have a chance later? */
  readonly retry: boolean
  /** What the reader should type or change next. */
  readonly nextStep: string
  readonly cause?: unknown
}

/** Everything that is not a cheat: a cheat is a value (a rejected verdict), a fault is this exception. */
export class TouchstoneError extends Error {
  override readonly name = 'TouchstoneError'
  readonly detail: Readonly<{ code: string } & Record<string, string | number | boolean>>
  readonly blame: Blame
  readonly retry: boolean
  readonly nextStep: string

  constructor(detail: { code: string } & Record<string, string | number | boolean>, options: FaultOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.detail = detail
    this.blame = options.blame
    this.retry = options.retry
    this.nextStep = options.nextStep
  }
}
