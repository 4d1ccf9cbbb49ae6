import type { ValueOf } from '@chainsafe/ssz'
import { ascii, concatBytes, equalBytes } from '../../bytes/bytes.ts'
import { toHex } from '../../bytes/hex.ts'
import { taggedHash } from '../../bytes/sha256.ts'
import { be256, u32be, u64be } from '../bigEndian.ts'
import type { DisputeType, ReplicaType, TaskType } from '../stateType.ts'

export type Task = ValueOf<typeof TaskType>
export type Replica = ValueOf<typeof ReplicaType>
export type Dispute = ValueOf<typeof DisputeType>

export const ORIGIN = { drawn: 0, redrawn: 1, audit: 2, fresh: 3 } as const
export const MARK = { none: 0, late: 1, dissent: 2, fraud: 3, valid: 4 } as const
export const PHASE = { running: 0, appeal: 1 } as const

/** Epochs of a round after its draw (§5.2). */
export const AFTER = { commit: 1n, secondCommit: 2n, reveal: 3n, open: 5n } as const

export const OPENINGS = 8

export const taskId = (project: number, index: bigint): Uint8Array =>
  taggedHash('pod/task', u32be(project), u64be(index))
export const taskSeed = (eta: Uint8Array, id: Uint8Array): Uint8Array => taggedHash('pod/seed', eta, id)

/** The record that a task works on; projects without records have none to draw. */
export const taskRecord = (eta: Uint8Array, id: Uint8Array, records: bigint): bigint =>
  records === 0n ? 0n : (be256(taggedHash('pod/rec', eta, id, u32be(0))) >> 192n) % records

/** What two replicas must have in common: result and live share. */
export const resultClass = (id: Uint8Array, { resultRoot, live }: Pick<Replica, 'resultRoot' | 'live'>): Uint8Array =>
  taggedHash('pod/u', id, resultRoot, Uint8Array.of(live >> 8, live & 0xff))

/** What a replica puts on the chain before anybody shows a result: its own, so that it cannot be copied. */
export const drillCommitment = (
  id: Uint8Array,
  account: Uint8Array,
  shown: Pick<Replica, 'resultRoot' | 'live' | 'traceRoot'>,
  nonce: Uint8Array,
): Uint8Array => taggedHash('pod', id, account, resultClass(id, shown), shown.traceRoot, nonce)

export const auditAlpha = (eta: Uint8Array, id: Uint8Array): Uint8Array => concatBytes(ascii('ts1-audit'), eta, id)

/** The places of the leaves that replicas must open. */
export const drawnPatches = (eta: Uint8Array, { id, depth }: Pick<Task, 'id' | 'depth'>): number[] =>
  Array.from({ length: OPENINGS }, (_, k) =>
    Number(be256(taggedHash('pod/open', eta, id, u32be(k))) % (1n << BigInt(depth))),
  )

/** Whether a replica is asked: who came late or fresh always, of the others one in eight. */
export function mustOpen(eta: Uint8Array, task: Task, replica: Replica, account: Uint8Array): boolean {
  if (replica.revealed === 0 || replica.mark !== MARK.none || replica.committed < task.epoch) return false
  if (replica.origin !== ORIGIN.drawn) return true
  return taggedHash('pod/pick', eta, task.id, account)[31]! % 8 === 0
}

/** Replicas that showed a result and are not marked. */
export const standing = ({ replicas }: Task): Replica[] =>
  replicas.filter(({ revealed, mark }) => revealed === 1 && mark === MARK.none)

export interface ResultClass {
  readonly u: Uint8Array
  readonly replicas: readonly Replica[]
}

/** The standing replicas by what they found, the largest class first; equals by the lower u. */
export function classesOf(task: Task): ResultClass[] {
  const classes = new Map<string, { u: Uint8Array; replicas: Replica[] }>()
  for (const replica of standing(task)) {
    const u = resultClass(task.id, replica)
    const known = classes.get(toHex(u))
    if (known) known.replicas.push(replica)
    else classes.set(toHex(u), { u, replicas: [replica] })
  }
  const name = (entry: ResultClass) => toHex(entry.u)
  return [...classes.values()].sort((a, b) => b.replicas.length - a.replicas.length || (name(a) < name(b) ? -1 : 1))
}

/** The class of at least two thirds, and of three replicas. */
export function leaderOf(classes: readonly ResultClass[]): ResultClass | null {
  const count = classes.reduce((sum, { replicas }) => sum + replicas.length, 0)
  const [largest] = classes
  if (largest === undefined || largest.replicas.length < 3) return null
  return 3 * largest.replicas.length >= 2 * count ? largest : null
}

export const NO_CLASS = new Uint8Array(32)
export const hasLeader = ({ leader }: Task): boolean => !equalBytes(leader, NO_CLASS)
