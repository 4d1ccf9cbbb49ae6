import type { Signer } from '../bytes/ed25519.ts'
import { taggedHash } from '../bytes/sha256.ts'
import { type AccountKeys, accountKeys, devnetSecret } from './accountKeys.ts'
import { u32be, u64be } from './bigEndian.ts'
import type { Vrf } from './ecvrf.ts'
import type { Genesis, GenesisAccount, GenesisProject } from './genesisType.ts'
import { CHAIN_PRESETS, type ChainParams, UNITS_PER_TOKEN } from './params.ts'

/** Accounts of a devnet that hold tokens; the first of them make its blocks. */
const DEVNET_ACCOUNTS = 16
const TOKENS_EACH = 10_000_000n

/** A product of 1.07 * 10^9 operations: small enough for any processor. */
const DEVNET_TASK = { work: 310n, depth: 4 }

export interface DevnetOptions {
  /** When slot 0 begins. */
  readonly timeMs: bigint
  /** How many accounts make blocks and vote. */
  readonly authorities: number
  readonly params?: Partial<ChainParams>
  /** What project 0 asks for. */
  readonly task?: GenesisProject
}

export const devnetKeys = (index: number, vrf: Vrf, sign?: (secret: Uint8Array) => Signer): AccountKeys =>
  accountKeys(devnetSecret(index), vrf, sign)

/** A chain to try things on: its keys are known to all, and its authorities share the weight until somebody drills. */
export function devnetGenesis({ timeMs, authorities, params, task }: DevnetOptions, vrf: Vrf): Genesis {
  const all = { ...CHAIN_PRESETS.devnet, ...params }
  const keys = Array.from({ length: Math.max(DEVNET_ACCOUNTS, authorities) }, (_, index) => devnetKeys(index, vrf))
  const accounts = keys.map(({ signer, vrfKey }, index): GenesisAccount => {
    const isAuthority = index < authorities
    return {
      key: signer.publicKey,
      balance: TOKENS_EACH * UNITS_PER_TOKEN,
      bond: isAuthority ? all.bond : 0n,
      stake: isAuthority ? all.stake : 0n,
      vrfKey: vrfKey.publicKey,
      drilled: 0n,
      trained: 0n,
    }
  })
  return {
    preset: 'devnet',
    timeMs,
    params: all,
    etas: [0, 1, 2].map((epoch) => taggedHash('ts1/devnetEta', u32be(epoch), u64be(timeMs))),
    accounts,
    authorities: accounts.slice(0, authorities).map(({ key }) => key),
    project: task ?? DEVNET_TASK,
  }
}
