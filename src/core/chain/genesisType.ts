import { ByteListType, ContainerType, ListCompositeType, VectorCompositeType } from '@chainsafe/ssz'
import { ascii, equalBytes } from '../bytes/bytes.ts'
import { CHAIN_PRESETS, type ChainParams } from './params.ts'
import { Bytes32, decodeExactly, U8, U64, U128 } from './ssz.ts'

const paramNames = Object.keys(CHAIN_PRESETS.mainnet) as (keyof ChainParams)[]
const paramFields = Object.fromEntries(paramNames.map((name) => [name, U64])) as Record<keyof ChainParams, typeof U64>

/** A start account. Its power is synthetic: it decays and is never renewed. */
export interface GenesisAccount {
  readonly key: Uint8Array
  readonly balance: bigint
  readonly bond: bigint
  readonly stake: bigint
  /** All 0 without one. */
  readonly vrfKey: Uint8Array
  readonly drilled: bigint
  readonly trained: bigint
}

/** Project 0, int8 product chains: µut of a task, and its result's leaves as 2^depth. */
export interface GenesisProject {
  readonly work: bigint
  readonly depth: number
}

/** §3.2. Everything that the first block stands on. */
export interface Genesis {
  readonly preset: string
  readonly timeMs: bigint
  readonly params: ChainParams
  /** eta of epochs 0, 1 and 2. */
  readonly etas: readonly Uint8Array[]
  readonly accounts: readonly GenesisAccount[]
  readonly authorities: readonly Uint8Array[]
  readonly project: GenesisProject
}

const GenesisType = new ContainerType({
  tag: new ByteListType(16),
  preset: new ByteListType(16),
  timeMs: U64,
  params: new ContainerType(paramFields),
  etas: new VectorCompositeType(Bytes32, 3),
  accounts: new ListCompositeType(
    new ContainerType({
      key: Bytes32,
      balance: U64,
      bond: U64,
      stake: U64,
      vrfKey: Bytes32,
      drilled: U128,
      trained: U128,
    }),
    2 ** 20,
  ),
  authorities: new ListCompositeType(Bytes32, 1_024),
  project: new ContainerType({ work: U64, depth: U8 }),
})

const TAG = ascii('ts1')

const spelled = (genesis: Genesis) => ({
  ...genesis,
  tag: TAG,
  preset: ascii(genesis.preset),
  etas: [...genesis.etas],
  accounts: [...genesis.accounts],
  authorities: [...genesis.authorities],
})

/** The name of the chain: in every signature, so that nothing signed here counts anywhere else. */
export const genesisHash = (genesis: Genesis): Uint8Array => GenesisType.hashTreeRoot(spelled(genesis))

export const encodeGenesis = (genesis: Genesis): Uint8Array => GenesisType.serialize(spelled(genesis))

/** A genesis from its bytes; null unless a chain can run on it. */
export function decodeGenesis(bytes: Uint8Array): Genesis | null {
  const written = decodeExactly(GenesisType, bytes)
  return written === null ? null : readGenesis(written)
}

/** The same as a person reads it: numbers in decimal, bytes in hexadecimal. */
export const genesisToJson = (genesis: Genesis): unknown => GenesisType.toJson(spelled(genesis))

export function genesisFromJson(json: unknown): Genesis | null {
  try {
    return readGenesis(GenesisType.fromJson(json))
  } catch {
    return null
  }
}

function readGenesis({ tag, preset, ...rest }: ReturnType<typeof spelled>): Genesis | null {
  const name = String.fromCharCode(...preset)
  return equalBytes(tag, TAG) && /^[a-z]+$/.test(name) && isUsable(rest.params) ? { preset: name, ...rest } : null
}

const MOST = 1n << 62n
/** Parameters that may be 0. */
const MAYBE_NONE: ReadonlySet<string> = new Set<keyof ChainParams>([
  ...(['bond', 'stake', 'deposit', 'projectBond', 'bootWeight', 'feePerByte', 'issuance'] as const),
  ...(['blockShare', 'voteShare', 'scoreShare', 'validatorShare', 'taskPrice', 'strictDrilling'] as const),
])

/** Whether the rules can work with these parameters: no division by 0, no clock that stands still, no block that does not fit. */
function isUsable(params: ChainParams): boolean {
  const inRange = Object.entries(params).every(([name, value]) => (value > 0n || MAYBE_NONE.has(name)) && value < MOST)
  return (
    inRange &&
    params.leaderNumerator < params.leaderDenominator &&
    params.auditNumerator < params.auditDenominator &&
    params.slotMs >= 100n &&
    params.slotMs <= 3_600_000n &&
    params.epochSlots <= 1_000_000n &&
    params.exactVoters + params.seats <= 1_024n &&
    params.blockBytes <= 1n << 20n &&
    params.blockShare + params.voteShare + params.scoreShare + params.validatorShare <= 100n
  )
}
