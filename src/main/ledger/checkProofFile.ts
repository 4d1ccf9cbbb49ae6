import { createHash } from 'node:crypto'
import { equalBytes } from '../../core/bytes/bytes.ts'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { fromHex } from '../../core/bytes/hex.ts'
import { CLOCK_SKEW_MS } from '../../core/certificate/checkCertificate.ts'
import { DOUBTS } from '../../core/certificate/doubts.ts'
import { PROBLEMS as OF_CERTIFICATES } from '../../core/certificate/problems.ts'
import { type Standing, standingOf } from '../../core/certificate/signers.ts'
import {
  checkRound,
  checkScoreProof,
  type RoundProblem,
  type RoundRecord,
  roundRecord,
  type ScoreProof,
  scoreProof,
} from '../../core/ledger/roundRecord.ts'
import { toInstant } from '../../core/units/instants.ts'
import type { Signers } from '../../drivers/system/loadSigners.ts'
import { readGiven } from '../check/readGiven.ts'
import { fault } from '../faults.ts'

export interface ProofFlags {
  readonly trust?: readonly Uint8Array[]
  readonly box?: string
  readonly maxAge?: number
  readonly revoked?: string
  readonly certificate?: string
  readonly rpc?: readonly string[]
  readonly node?: string
  readonly chain?: string
  readonly chainId?: number
  readonly contract?: string
  readonly publisher?: string
  readonly depth?: number
  readonly json?: boolean
}

/** Who reads it: none of this comes from the file. */
export interface ProofReader extends Signers {
  readonly nowMs: number
}

const ASK_AGAIN = 'Ask the validator for it again; if it stays so, do not rely on it.'

/** What each refusal means, and what to do now. */
const PROBLEMS = {
  NOT_A_PROOF: {
    meaning: 'the file is neither the proof of a score nor a round',
    nextStep: 'Name what a validator answers at /v1/boxes/ID/proof or /v1/rounds/NUMBER/record.',
  },
  ORDER: { meaning: 'its entries are not in their order, or name a box twice', nextStep: ASK_AGAIN },
  ROOT: { meaning: 'its entries do not lead to its root', nextStep: ASK_AGAIN },
  PLACE: { meaning: 'its place or the length of its path does not fit the number of boxes', nextStep: ASK_AGAIN },
  PATH: { meaning: 'the path does not lead from this score to the root', nextStep: ASK_AGAIN },
  SIGNATURE: { meaning: 'the signature is not that of the validator', nextStep: ASK_AGAIN },
  UNKNOWN_SIGNER: {
    meaning: 'its signature holds, but its validator is none of yours',
    nextStep: 'Get the key from the validator itself, not from the file, and name it with --trust KEY.',
  },
  SIGNER_REVOKED: {
    meaning: OF_CERTIFICATES.SIGNER_REVOKED.meaning,
    nextStep: 'Ask for the score by a validator in good standing.',
  },
  FROM_THE_FUTURE: {
    meaning: 'it says that it was closed at a time that is still to come',
    nextStep: 'Set the clock of this machine; if it is right, do not rely on this validator.',
  },
  TOO_OLD: {
    meaning: 'its round was closed longer ago than you allow',
    nextStep: 'Ask the validator for the proof of a later round.',
  },
  OTHER_BOX: {
    meaning: 'it has no score of the box that you named',
    nextStep: 'Ask for the proof of that box, or name the one that you mean with --box.',
  },
  OTHER_CERTIFICATE: {
    meaning: 'the score was earned with another certificate',
    nextStep: 'Ask for the certificate whose SHA-256 the proof names.',
  },
  NOT_PUBLISHED: {
    meaning: 'the chain does not have it, not as final yet, or no longer: ours keeps the last round of a validator',
    nextStep:
      'Check which chain and publisher you named, and ask again later; until then it is what its validator says.',
  },
} as const satisfies Readonly<Record<RoundProblem | string, { readonly meaning: string; readonly nextStep: string }>>

type Problem = keyof typeof PROBLEMS

/** What was found, for a script and for a person. */
interface Checked {
  readonly problem: Problem | null
  /** Why what holds is still not established. */
  readonly doubt: 'SIGNER_REVOKED_SINCE' | null
  readonly validator?: string
  /** The key that its reader trusts and that the validator took over from. */
  readonly successorOf?: string
  readonly round?: number
  readonly closedAt?: string
  readonly scores: RoundRecord['entries']
  /** Whether a chain was asked and confirmed it. */
  readonly onChain: boolean
  readonly lines: readonly string[]
}

/** Checks the proof of a score or a whole round: what was signed, by whom, whether it is what was asked for, and that it was published. */
export async function checkProofFile(
  file: string,
  flags: ProofFlags,
  reader: ProofReader,
  signal: AbortSignal,
): Promise<Checked> {
  const bytes = await readGiven(file, signal)
  const read = bytes instanceof Uint8Array ? readProof(bytes) : null
  if (read === null) return refused('NOT_A_PROOF')
  const standing = standingOf(bytesOf(read.validator), toInstant(read.closedAtMs), reader.revocations)
  const problem =
    signatureProblem(read, standing, reader) ??
    askedProblem(read, flags, reader) ??
    (await otherCertificate(read, flags, signal)) ??
    (await notPublished(read, flags, signal))
  return problem === null ? told(read, standing, flags, reader) : refused(problem)
}

const bytesOf = (key: string): Uint8Array => fromHex(key, 32)!

/** Whether it is what a validator signed that the reader trusts. */
function signatureProblem(read: Read, standing: Standing, { trusted }: ProofReader): Problem | null {
  const problem = isProof(read) ? checkScoreProof(read) : checkRound(read)
  if (problem !== null) return problem
  if (!trusted.some((key) => equalBytes(key, bytesOf(read.validator)))) return 'UNKNOWN_SIGNER'
  return standing === 'bad' ? 'SIGNER_REVOKED' : null
}

/** Attack 188: what was signed may be of another box, or of long ago. */
function askedProblem(read: Read, { box, maxAge }: ProofFlags, { nowMs }: ProofReader): Problem | null {
  const ageMs = nowMs - read.closedAtMs
  if (ageMs < -CLOCK_SKEW_MS) return 'FROM_THE_FUTURE'
  if (maxAge !== undefined && ageMs > 1000 * maxAge) return 'TOO_OLD'
  return scoresOf(read, box).length === 0 ? 'OTHER_BOX' : null
}

const scoresOf = (read: Read, box: string | undefined): RoundRecord['entries'] =>
  (isProof(read) ? [read.entry] : read.entries).filter((entry) => box === undefined || entry.box === box)

async function otherCertificate(
  read: Read,
  { certificate }: ProofFlags,
  signal: AbortSignal,
): Promise<'OTHER_CERTIFICATE' | null> {
  if (certificate === undefined) return null
  const bytes = await readGiven(certificate, signal)
  const hash = bytes instanceof Uint8Array ? createHash('sha256').update(bytes).digest('hex') : ''
  return isProof(read) && read.entry.certificate === hash ? null : 'OTHER_CERTIFICATE'
}

async function notPublished(read: Read, flags: ProofFlags, signal: AbortSignal): Promise<'NOT_PUBLISHED' | null> {
  const asked = [
    ...(flags.rpc === undefined ? [] : [isOnChain(read, flags.rpc, flags, signal)]),
    ...(flags.node === undefined ? [] : [isOnOurs(read, flags.node, flags.chain, signal)]),
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

async function isOnOurs(read: Read, node: string, chain: string | undefined, signal: AbortSignal): Promise<boolean> {
  // Anybody starts a chain of his own, and publishes there what he never published on the one that is meant (attack 294).
  if (!isProof(read) || chain === undefined)
    throw fault('USAGE', {
      why: 'a node of our chain is asked about the proof of a score, and --chain must say which chain it is of',
      help: 'touchstone ledger check --help',
    })
  const { chainWitness } = await import('../../drivers/ledger/chainLedger.ts')
  const { NodeClient } = await import('../chain/nodeClient.ts')
  const client = new NodeClient(node, chain)
  await client.terms(signal)
  return await chainWitness(client)(read, signal)
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

const refused = (problem: Problem): Checked => ({
  problem,
  doubt: null,
  scores: [],
  onChain: false,
  lines: [`refused: ${PROBLEMS[problem].meaning} [${problem}]`, `next: ${PROBLEMS[problem].nextStep}`],
})

function told(read: Read, standing: Standing, { box, rpc, node }: ProofFlags, { successorOf }: ProofReader): Checked {
  const { validator, round } = read
  const before = successorOf.get(validator) ?? null
  const doubt = standing === 'doubtful' ? ('SIGNER_REVOKED_SINCE' as const) : null
  const [onChain, closedAt, scores] = [(rpc ?? node) !== undefined, toInstant(read.closedAtMs), scoresOf(read, box)]
  const lines = [
    ...(doubt === null ? [] : [`not established: ${DOUBTS[doubt].meaning} [${doubt}]`]),
    ...scores.map((entry) => `${entry.box}: ${entry.score}${entry.certificate ? ` by ${entry.certificate}` : ''}`),
    `round ${round}, closed at ${closedAt} by ${validator}${before === null ? '' : `, successor of ${before}`}`,
    ...(rpc === undefined ? [] : ['published: the chain confirms it']),
    ...(node === undefined ? [] : ['published: a final block has it, by the word of the node']),
    ...(onChain ? [] : ['not asked of any chain: this is what the validator signed']),
  ]
  return {
    problem: null,
    doubt,
    validator,
    ...(before === null ? {} : { successorOf: before }),
    round,
    closedAt,
    scores,
    onChain,
    lines,
  }
}
