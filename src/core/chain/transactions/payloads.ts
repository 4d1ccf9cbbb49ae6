import { ByteListType, ContainerType, ListCompositeType, VectorBasicType } from '@chainsafe/ssz'
import { Bytes32, Bytes64, Bytes80, U8, U16, U32, U64 } from '../ssz.ts'

/** The payload of each kind of transaction (§3.9). */
export const TransferType = new ContainerType({ to: Bytes32, amount: U64 })
export const VrfKeyType = new ContainerType({ key: Bytes32, proof: Bytes80 })
/** purpose: 0 bond, 1 stake, 2 deposit, 3 project. */
export const LockType = new ContainerType({ purpose: U8, amount: U64 })

export const BoxAddType = new ContainerType({ box: Bytes32, boxSig: Bytes64 })
export const BoxRemoveType = new ContainerType({ box: Bytes32 })
export const ReportType = new ContainerType({ epoch: U64, commitment: Bytes32 })
/** What a validator found of a box: rates in operations a second, memory in bytes, bandwidth in bytes a second, capacity in µut an epoch. */
export const EntryType = new ContainerType({
  box: Bytes32,
  model: Bytes32,
  count: U16,
  rates: new VectorBasicType(U64, 5),
  memory: U64,
  bandwidth: U64,
  capacity: U64,
  score: U64,
  certificate: Bytes32,
  boxSig: Bytes64,
})
export const EntriesType = new ListCompositeType(EntryType, 512)
export const RevealType = new ContainerType({ epoch: U64, salt: Bytes32, vrfProof: Bytes80, entries: EntriesType })
/** What a validator keeps until it was shown: that of the last epoch and that of this one. */
export const UnshownType = new ListCompositeType(RevealType, 2)

/** A round of scores that a validator publishes: the root of docs/spec/ledger.md. */
export const PublishType = new ContainerType({ round: U64, root: Bytes32 })

export const ProposalType = new ContainerType({
  kind: U8,
  graph: Bytes32,
  model: Bytes32,
  corpusRoot: Bytes32,
  goldRoot: Bytes32,
  records: U64,
  work: U64,
  depth: U8,
  uri: new ByteListType(256),
})
/** utility in halves: 0, 1, 2 or 4. */
export const ProjectVotePayloadType = new ContainerType({ project: U32, utility: U8 })
export const TasksType = new ContainerType({ project: U32, count: U32 })
export const ReadyType = new ContainerType({ classes: U8 })

export const DrillCommitType = new ContainerType({ task: Bytes32, commitment: Bytes32, vrfProof: Bytes80 })
export const DrillRevealType = new ContainerType({
  task: Bytes32,
  resultRoot: Bytes32,
  traceRoot: Bytes32,
  live: U16,
  nonce: Bytes32,
})

const PathType = new ListCompositeType(Bytes32, 32)
const chunk = { index: U32, bytes: new ByteListType(1_024), resultPath: PathType }
/** A leaf of a result with the leaves it was made of; `tracePath` leads to the root that only its replica has. */
export const OpeningType = new ContainerType({
  ...chunk,
  tracePath: PathType,
  inputs: new ListCompositeType(new ContainerType(chunk), 64),
})
export const DrillOpenType = new ContainerType({ task: Bytes32, openings: new ListCompositeType(OpeningType, 8) })

const GoldType = new ContainerType({ record: U64, resultRoot: Bytes32, salt: Bytes32, place: U32, path: PathType })
/** move: 0 appeal, 1 split, 2 choose, 3 show; what a move does not need is empty or 0. */
export const DisputeMoveType = new ContainerType({
  task: Bytes32,
  move: U8,
  accused: Bytes32,
  gold: new ListCompositeType(GoldType, 1),
  children: new ListCompositeType(Bytes32, 16),
  child: U8,
  opening: new ListCompositeType(OpeningType, 1),
})
