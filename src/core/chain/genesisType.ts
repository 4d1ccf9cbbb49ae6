import { ByteListType, ContainerType, ListCompositeType, VectorCompositeType } from '@chainsafe/ssz'
import { ascii } from '../bytes/bytes.ts'
import { CHAIN_PRESETS, type ChainParams } from './params.ts'
import { Bytes32, U8, U64, U128 } from './ssz.ts'

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

/** The name of the chain: in every signature, so that nothing signed here counts anywhere else. */
export function genesisHash(genesis: Genesis): Uint8Array {
  return GenesisType.hashTreeRoot({
    ...genesis,
    tag: ascii('ts1'),
    preset: ascii(genesis.preset),
    etas: [...genesis.etas],
    accounts: [...genesis.accounts],
    authorities: [...genesis.authorities],
  })
}
