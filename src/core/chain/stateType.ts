import {
  ByteListType,
  type CompositeViewDU,
  ContainerType,
  ListBasicType,
  ListCompositeType,
  VectorCompositeType,
} from '@chainsafe/ssz'
import { Bytes32, MAX_VOTERS, U8, U16, U32, U64, U128 } from './ssz.ts'

export const MAX_ACCOUNTS = 2 ** 30
const U8s = new ListBasicType(U8, MAX_ACCOUNTS)
export const U64s = new ListBasicType(U64, MAX_ACCOUNTS)
const U128s = new ListBasicType(U128, MAX_ACCOUNTS)
export const Keys = new ListCompositeType(Bytes32, MAX_ACCOUNTS)

/** The columns of the accounts: entry i of each belongs to account i, in the order in which they came. */
export const AccountsType = new ContainerType({
  key: Keys,
  /** The nonce of account i at 2 i, its balance at 2 i + 1: a transfer changes one leaf where two columns would change two. */
  purse: new ListBasicType(U64, 2 * MAX_ACCOUNTS),
  bond: U64s,
  stake: U64s,
  deposit: U64s,
  projectBond: U64s,
  /** Rewards, released bit by bit. */
  locked: U64s,
  /** All 0 without a key. */
  vrfKey: Keys,
  /** The first epoch in which the key may be used. */
  vrfFrom: U64s,
  /** R_D, R_T, F_D and S of §4, in µut a day. */
  drilled: U128s,
  trained: U128s,
  failed: U128s,
  settled: U128s,
  /** All credit ever, in µut. */
  drilledTotal: U128s,
  trainedTotal: U128s,
  /** Work settled and work failed in this epoch, in µut. */
  drilledNow: U128s,
  trainedNow: U128s,
  failedNow: U128s,
  /** Proven µut an epoch, and what of it is drawn or committed in this one. */
  capacity: U64s,
  used: U64s,
  /** Drilling tasks valid in a row. */
  streak: U64s,
  /** The classes of tasks that the account takes, a bit each. */
  ready: U8s,
  authority: U8s,
  jailedUntil: U64s,
  /** No drilling before this epoch. */
  drillsFrom: U64s,
  /** The epoch after the last punishment of §3.7; 0 if there was none. */
  punished: U64s,
  /** How many unlocks are under way. */
  unlocking: U8s,
  /** The last round of scores that the account published, and its root (docs/spec/ledger.md); 0 if it published none. */
  round: U64s,
  roundRoot: Keys,
})

export const MAX_UNLOCKS = 2 ** 24
export const UnlockType = new ContainerType({ account: U32, purpose: U8, amount: U64, epoch: U64 })
export const SlashType = new ContainerType({
  account: U32,
  reporter: U32,
  epoch: U64,
  base: U64,
  weight: U64,
  total: U128,
})

/** A validator's latest word about a box. */
export const BoxReportType = new ContainerType({
  validator: U32,
  epoch: U64,
  score: U64,
  capacity: U64,
  model: Bytes32,
  certificate: Bytes32,
})
export const MAX_VALIDATORS = 64
/** `account` is one more than its place, 0 where the box was removed. */
export const BoxType = new ContainerType({
  key: Bytes32,
  account: U32,
  score: U64,
  capacity: U64,
  reports: new ListCompositeType(BoxReportType, MAX_VALIDATORS),
})
export const ReportCommitType = new ContainerType({ validator: U32, epoch: U64, commitment: Bytes32, revealed: U8 })

export const ProjectVoteType = new ContainerType({ account: U32, utility: U8, epoch: U64 })
/** status 0 proposed, 1 live, 2 refused. Utility counts in halves. */
export const ProjectType = new ContainerType({
  owner: U32,
  kind: U8,
  status: U8,
  graph: Bytes32,
  model: Bytes32,
  corpusRoot: Bytes32,
  goldRoot: Bytes32,
  records: U64,
  /** µut of one task at full live share and utility 1. */
  work: U64,
  /** Leaves of a task's result: 2^depth. */
  depth: U8,
  uri: new ByteListType(256),
  epoch: U64,
  utility: U8,
  utilityUntil: U64,
  /** Tasks ever queued, and tasks ever drawn. */
  queued: U64,
  taken: U64,
  votes: new ListCompositeType(ProjectVoteType, 4_096),
})
export const ProjectsType = new ListCompositeType(ProjectType, 65_536)

/** origin 0 drawn, 1 redrawn, 2 audit, 3 fresh. mark 0 none, 1 late, 2 dissent, 3 fraud, 4 valid. */
export const ReplicaType = new ContainerType({
  account: U32,
  origin: U8,
  drawn: U64,
  work: U64,
  committed: U64,
  commitment: Bytes32,
  revealed: U8,
  resultRoot: Bytes32,
  traceRoot: Bytes32,
  live: U16,
  opened: U8,
  mark: U8,
})
export const DisputeType = new ContainerType({
  challenger: U32,
  /** The u and the result of the class that is accused. */
  accused: Bytes32,
  resultRoot: Bytes32,
  /** 1: the owner of the project stands behind a gold entry. */
  gold: U8,
  /** The node under search: its depth, its place and the hash that the accused stand by. */
  depth: U8,
  place: U64,
  node: Bytes32,
  children: new ListCompositeType(Bytes32, 16),
  /** 0: the accused moves, 1: the challenger. */
  turn: U8,
  /** The last slot of the move that is due. */
  deadline: U64,
})
/** phase 0 running (§5.2 by its epoch), 1 appeal. */
export const TaskType = new ContainerType({
  id: Bytes32,
  project: U32,
  index: U64,
  record: U64,
  seed: Bytes32,
  work: U64,
  utility: U8,
  depth: U8,
  phase: U8,
  draws: U8,
  /** The epoch of the draw of this round: e of §5.2. */
  epoch: U64,
  replicas: new ListCompositeType(ReplicaType, 32),
  /** The u of the class that leads in an appeal; all 0 if none does. */
  leader: Bytes32,
  appealUntil: U64,
  dispute: new ListCompositeType(DisputeType, 1),
})

/** Seats add up: the weight of one voter may pass u64. */
export const VoterType = new ContainerType({ account: U32, weight: U128 })
export const VoterSetType = new ContainerType({
  epoch: U64,
  total: U128,
  voters: new ListCompositeType(VoterType, MAX_VOTERS),
})

/** What the end of an epoch fixes for the draws three epochs later. */
export const SnapshotType = new ContainerType({
  epoch: U64,
  /** w of those that may make blocks, with boot weight; 0 for all others. */
  weight: U64s,
  /** What of it is boot weight, for each authority that has any. */
  boot: U64,
  /** v of those that may vote, with boot weight. */
  votes: U64s,
  vrfKey: Keys,
  /** Capacity of those that may be drawn, and the classes they take. */
  capacity: U64s,
  ready: U8s,
  projects: ProjectsType,
})

export const BlockRefType = new ContainerType({ slot: U64, hash: Bytes32 })

export const StateType = new ContainerType({
  genesisHash: Bytes32,
  slot: U64,
  epoch: U64,
  /** eta of the epoch n at place n mod 8. */
  etas: new VectorCompositeType(Bytes32, 8),
  randomness: new ListCompositeType(Bytes32, 65_536),
  accounts: AccountsType,
  supply: U64,
  /** Issued to voters by the next recorded commit. */
  votesDue: U64,
  unlocks: new ListCompositeType(UnlockType, MAX_UNLOCKS),
  slashes: new ListCompositeType(SlashType, 2 ** 20),
  validators: new ListBasicType(U32, MAX_VALIDATORS),
  boxes: new ListCompositeType(BoxType, 2 ** 24),
  reports: new ListCompositeType(ReportCommitType, 256),
  projects: ProjectsType,
  tasks: new ListCompositeType(TaskType, 2 ** 20),
  snapshots: new VectorCompositeType(SnapshotType, 4),
  /** The last final block that a block recorded, and all blocks of the branch from it on. */
  final: BlockRefType,
  blocks: new ListCompositeType(BlockRefType, 2 ** 26),
  sets: new ListCompositeType(VoterSetType, 65_536),
})

export type StateView = CompositeViewDU<typeof StateType>
export type AccountsView = CompositeViewDU<typeof AccountsType>
export type SnapshotView = CompositeViewDU<typeof SnapshotType>

/** All values of a list, pending changes included: the library refuses to read those before they are committed. */
export function valuesOf<V>(list: { commit(): void; getAllReadonlyValues(): V[] }): V[] {
  list.commit()
  return list.getAllReadonlyValues()
}
