/** Why a block or a transaction is refused. */
export const PROBLEM_CODES = [
  'MALFORMED',
  'PARENT',
  'SLOT',
  'AUTHOR',
  'JAILED',
  'KIND',
  'PROOF',
  'DRAW',
  'SIGNATURE',
  'SIZE',
  'BODY_ROOT',
  'STATE_ROOT',
  'COMMIT_SET',
  'COMMIT_TARGET',
  'COMMIT_LATE',
  'COMMIT_VOTERS',
  'COMMIT_QUORUM',
  'RESERVED',
  'UNKNOWN_KIND',
  'KEY',
  'ACCOUNT',
  'NONCE',
  'EXPIRED',
  'FEE',
  'BALANCE',
  'AMOUNT',
  'PURPOSE',
  'POSSESSION',
  'FULL',
  'BOX',
  'VALIDATOR',
  'EPOCH',
  'TOO_LATE',
  'TWICE',
  'COMMITMENT',
  'PROJECT',
  'UTILITY',
  'READY',
  'TASK',
  'REPLICA',
  'PHASE',
  'OPENING',
  'DISPUTE',
  'TURN',
  'EVIDENCE',
  'OLD',
  'PUNISHED',
] as const
export type ProblemCode = (typeof PROBLEM_CODES)[number]

/** `where` names the field, such as `body.txs[3].nonce`. */
export interface Problem {
  readonly code: ProblemCode
  readonly where: string
}

export const problem = (code: ProblemCode, where: string): Problem => ({ code, where })
