/** Whose fault a fault is: it decides who is told what to do, and never touches a score by itself. */
export type Blame = 'user' | 'prover' | 'validator' | 'network'

/**
 * What a fleet makes of a fault. Without a word it is a failure of the box, or a box would hide behind it.
 * - `busy`: somebody else holds the box or its cards; holds for the word of a prover too, so only `ports/faults.ts` says it.
 * - `stalled`: a failure of a box that kept us waiting for nothing.
 * - `void`: the same, but neither accepted nor refused: it was not ready when its cohort started.
 * - `ours`: only the set-up of this validator can cause it.
 * - `release`: a broken release of ours, or a box that breaks it: ours until another box has shown that it runs.
 */
export type FleetView = 'failed' | 'busy' | 'stalled' | 'void' | 'ours' | 'release'

/** One row of a table of faults. In its texts `{name}` stands for the fact of that name. */
export interface FaultRow {
  readonly blame: Blame
  /** Would the same call have a chance later? Without a word it would not. */
  readonly retry?: true
  readonly message: string
  /** What the reader should type or change next. */
  readonly nextStep: string
  readonly fleet?: FleetView
}

type Fact = string | number | boolean
type Facts = Readonly<Record<string, Fact>>
declare const inTable: unique symbol

/** A code that stands in a table: nothing but `faultsOf` makes one. */
type FaultCode = string & { readonly [inTable]: true }

type FaultWords = Required<Omit<FaultRow, 'retry'>> & { readonly retry: boolean; readonly cause?: unknown }

/** Everything that is not a cheat: a cheat is a value (a rejected verdict), a fault is this exception. */
export class TouchstoneError extends Error {
  override readonly name = 'TouchstoneError'
  readonly detail: Facts & { readonly code: FaultCode }
  readonly blame: Blame
  readonly retry: boolean
  readonly nextStep: string
  readonly fleet: FleetView

  constructor(detail: TouchstoneError['detail'], { message, cause, ...words }: FaultWords) {
    super(message, cause === undefined ? undefined : { cause })
    this.detail = detail
    this.blame = words.blame
    this.retry = words.retry
    this.nextStep = words.nextStep
    this.fleet = words.fleet
  }
}

/** The facts a text names: those of '{address} is gone' are 'address'. */
type Named<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never
type FactsOf<Row extends FaultRow> = Named<Row['message'] | Row['nextStep']>
type Given<Row extends FaultRow> = [FactsOf<Row>] extends [never]
  ? [facts?: Facts, cause?: unknown]
  : [facts: Facts & Readonly<Record<FactsOf<Row>, Fact>>, cause?: unknown]

export interface FaultTable<Rows extends Readonly<Record<string, FaultRow>>> {
  <Code extends keyof Rows & string>(code: Code, ...given: Given<Rows[Code]>): TouchstoneError
  /** Whether it is one of these faults. */
  is(error: unknown, ...codes: readonly (keyof Rows & string)[]): error is TouchstoneError
  readonly rows: Rows
}

/** Makes faults from their rows: a code or a fact that is not in the table does not compile. */
export function faultsOf<const Rows extends Readonly<Record<string, FaultRow>>>(rows: Rows): FaultTable<Rows> {
  const make = (code: keyof Rows & string, facts: Facts = {}, cause?: unknown): TouchstoneError => {
    const { blame, retry = false, fleet = 'failed', message, nextStep } = rows[code]!
    const told = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => String(facts[name]))
    const words = { message: told(message), nextStep: told(nextStep), blame, retry, fleet, cause }
    return new TouchstoneError({ ...facts, code: code as string as FaultCode }, words)
  }
  const is = (error: unknown, ...codes: readonly string[]): error is TouchstoneError =>
    error instanceof TouchstoneError && codes.includes(error.detail.code)
  return Object.assign(make, { is, rows })
}
