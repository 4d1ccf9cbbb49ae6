import { createHash } from 'node:crypto'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import {
  checkRound,
  checkScoreProof,
  type RoundProblem,
  type RoundRecord,
  roundRecord,
  type ScoreProof,
  scoreProof,
} from '../../core/ledger/roundRecord.ts'
import { readGiven } from '../check/readGiven.ts'
import { fault } from '../faults.ts'

export interface ProofFlags {
  readonly trust?: readonly string[]
  readonly certificate?: string
  readonly rpc?: readonly string[]
  readonly node?: string
  readonly chainId?: number
  readonly contract?: string
  readonly publisher?: string
  readonly depth?: number
  readonly json?: boolean
}

const PROBLEMS = {
  NOT_A_PROOF: 'the file is neither the proof of a score nor a round',
  ORDER: 'its entries are not in their order, or name a box twice',
  ROOT: 'its entries do not lead to its root',
  PLACE: 'its place or the length of its path does not fit the number of boxes',
  PATH: 'the path does not lead from this score to the root',
  SIGNATURE: 'the signature is not that of the validator',
  UNKNOWN_SIGNER: 'its signature holds, but its validator is none of yours: name its key with --trust',
  OTHER_CERTIFICATE: 'the score was earned with another certificate',
  NOT_PUBLISHED: 'the chain does not have it, not as final yet, or no longer: ours keeps the last round of a validator',
} as const satisfies Readonly<Record<RoundProblem | string, string>>

type Problem = keyof typeof PROBLEMS

/** What was found, for a script and for a person. */
interface Checked {
  readonly problem: Problem | null
  readonly validator?: string
  readonly round?: number
  readonly scores: RoundRecord['entries']
  /** Whether a chain was asked and confirmed it. */
  readonly onChain: boolean
  readonly lines: readonly string[]
}

/** Checks the proof of a score or a whole round: what was signed, by whom, and, where asked for, that it was published. */
export async function checkProofFile(
  file: string,
  flags: ProofFlags,
  own: string,
  signal: AbortSignal,
): Promise<Checked> {
  const bytes = await readGiven(file, signal)
  const read = bytes instanceof Uint8Array ? readProof(bytes) : null
  if (read === null) return told('NOT_A_PROOF', null)
  const problem = await problemOf(read, flags, own, signal)
  return told(problem, read, problem === null && (flags.rpc ?? flags.node) !== undefined)
}

async function problemOf(read: Read, flags: ProofFlags, own: string, signal: AbortSignal): Promise<Problem | null> {
  const problem = isProof(read) ? checkScoreProof(read) : checkRound(read)
  if (problem !== null) return problem
  if (![own, ...(flags.trust ?? [])].includes(read.validator)) return 'UNKNOWN_SIGNER'
  if (flags.certificate !== undefined) {
    const bytes = await readGiven(flags.certificate, signal)
    const hash = bytes instanceof Uint8Array ? createHash('sha256').update(bytes).digest('hex') : ''
    if (!isProof(read) || read.entry.certificate !== hash) return 'OTHER_CERTIFICATE'
  }
  const asked = [
    ...(flags.rpc === undefined ? [] : [isOnChain(read, flags.rpc, flags, signal)]),
    ...(flags.node === undefined ? [] : [isOnOurs(read, flags.node, signal)]),
  ]
  return (await Promise.all(asked)).every((isThere) => isThere) ? null : 'NOT_PUBLISHED'
}

async function isOnChain(
  read: Read,
  urls: readonly string[],
  flags: ProofFlags,
  signal: AbortSignal,
): Promise<boolean> {
  const { chainId, contract, publisher, depth } = flags
  if (!isProof(read) || chainId === undefined || contract === undefined || publisher === undefined)
    throw fault('USAGE', {
      why: 'to ask a chain about the proof of a score, --chain-id, --contract and --publisher are needed too',
      help: 'touchstone ledger check --help',
    })
  const { evmWitness } = await import('../../drivers/ledger/evm/evmLedger.ts')
  const settings = { urls, chainId, contract, maxFeeGwei: 0, final: depth ?? ('finalized' as const) }
  return await evmWitness(settings, publisher)(read, signal)
}

async function isOnOurs(read: Read, node: string, signal: AbortSignal): Promise<boolean> {
  if (!isProof(read))
    throw fault('USAGE', {
      why: 'a chain is asked about one score, not a whole round',
      help: 'touchstone ledger check --help',
    })
  const { chainWitness } = await import('../../drivers/ledger/chainLedger.ts')
  const { NodeClient } = await import('../chain/nodeClient.ts')
  return await chainWitness(new NodeClient(node))(read, signal)
}

type Read = ScoreProof | RoundRecord

const isProof = (read: Read): read is ScoreProof => read.format === 'touchstone-score-1'

function readProof(bytes: Uint8Array): Read | null {
  for (const schema of [scoreProof, roundRecord])
    try {
      return decodeJson<Read>(bytes, schema, 'proof')
    } catch {}
  return null
}

function told(problem: Problem | null, read: Read | null, onChain = false): Checked {
  if (read === null || problem !== null)
    return { problem, scores: [], onChain, lines: [`refused: ${PROBLEMS[problem!]} [${problem}]`] }
  const { validator, round, closedAtMs } = read
  const scores = isProof(read) ? [read.entry] : read.entries
  const lines = [
    ...scores.map(({ box, score, certificate }) => `${box}: ${score}${certificate ? ` by ${certificate}` : ''}`),
    `round ${round}, closed at ${new Date(closedAtMs).toISOString()} by ${validator}`,
    onChain ? 'published: the chain confirms it' : 'not asked of any chain: this is what the validator signed',
  ]
  return { problem, validator, round, scores, onChain, lines }
}
