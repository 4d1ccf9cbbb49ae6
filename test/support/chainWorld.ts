import { BitArray } from '@chainsafe/ssz'
import { ascii, concatBytes, equalBytes } from '../../src/core/bytes/bytes.ts'
import { sha256, taggedHash } from '../../src/core/bytes/sha256.ts'
import {
  type Applied,
  applyBlock,
  BY_BOOT_WEIGHT,
  type Made,
  makeBlock,
  SECONDARY,
} from '../../src/core/chain/applyBlock.ts'
import { u64be } from '../../src/core/chain/bigEndian.ts'
import { type ChainState, type Checks, etaOf, findAccount, located } from '../../src/core/chain/chainState.ts'
import type { Patch } from '../../src/core/chain/drilling/patch.ts'
import type { Genesis, GenesisAccount } from '../../src/core/chain/genesisType.ts'
import { unitsHeld } from '../../src/core/chain/ledger.ts'
import { lotteryNumber, secondaryAuthor, slotAlpha } from '../../src/core/chain/lottery.ts'
import { CHAIN_PRESETS, epochOf, UNITS_PER_TOKEN } from '../../src/core/chain/params.ts'
import { nonceOf } from '../../src/core/chain/purse.ts'
import { PRECOMMIT } from '../../src/core/chain/recordCommit.ts'
import { txMessage, voteMessage } from '../../src/core/chain/signing.ts'
import { eligibleIn, leaderThreshold, lotteryPlace, votersOf } from '../../src/core/chain/snapshots.ts'
import type { Commit, Tx, UnsignedTx } from '../../src/core/chain/ssz.ts'

/** Keyed hashes in the place of cryptography: who knows a public key can sign for it, which no test here minds. */
export const signAs = (key: Uint8Array, message: Uint8Array): Uint8Array => {
  const half = taggedHash('sig', key, message)
  return concatBytes(half, sha256(half))
}
export const betaOf = (key: Uint8Array, alpha: Uint8Array): Uint8Array => {
  const half = taggedHash('vrf', key, alpha)
  return concatBytes(half, sha256(half))
}
export const proofOf = (key: Uint8Array, alpha: Uint8Array): Uint8Array =>
  concatBytes(betaOf(key, alpha), new Uint8Array(16).fill(7))

/** What decides the chunks of a task: its seed, or its record where the project has a graph, so that they can be known before. */
export type Computation = Pick<Patch, 'graph' | 'seed' | 'record'>

/** The right chunk at a place of a task. */
export function chunkOf({ graph, seed, record }: Computation, index: number): Uint8Array {
  const source = graph.some((byte) => byte !== 0) ? taggedHash('record', graph, u64be(record)) : seed
  return taggedHash('chunk', source, Uint8Array.of(index))
}

export const standIns: Checks = {
  signature: (sig, message, key) => equalBytes(sig, signAs(key, message)),
  vrf: (key, alpha, proof) => (equalBytes(proof, proofOf(key, alpha)) ? betaOf(key, alpha) : null),
  key: (key) => key[0] !== 0xff,
  terms: () => true,
  live: () => true,
  patch: ({ chunk, ...task }) => equalBytes(chunk.bytes, chunkOf(task, chunk.index)),
}

export const keyNamed = (name: string): Uint8Array => {
  const key = sha256(ascii(name))
  key[0]! &= 0x7f
  return key
}
export const tokens = (count: number): bigint => BigInt(count) * UNITS_PER_TOKEN
export const NO_BYTES = (length: number): Uint8Array => new Uint8Array(length)

export const accountNamed = (name: string, more: Partial<GenesisAccount> = {}): GenesisAccount => ({
  key: keyNamed(name),
  balance: tokens(100_000),
  bond: tokens(1_000),
  stake: 0n,
  vrfKey: keyNamed(`${name} vrf`),
  drilled: 10n ** 9n,
  trained: 0n,
  ...more,
})

export const genesisOf = (accounts: readonly GenesisAccount[], more: Partial<Genesis> = {}): Genesis => ({
  preset: 'tiny',
  timeMs: 0n,
  params: CHAIN_PRESETS.tiny,
  etas: [1, 2, 3].map((byte) => NO_BYTES(32).fill(byte)),
  accounts,
  authorities: accounts.slice(0, 1).map(({ key }) => key),
  project: { work: 1_000_000n, depth: 4 },
  ...more,
})

const FIXED_BYTES = 133

/** A signed transaction of an account, with the nonce that the state asks for. */
export function txOf(
  state: ChainState,
  key: Uint8Array,
  kind: number,
  payload: Uint8Array,
  more: Partial<Tx> = {},
): Tx {
  const place = findAccount(located(state), key)
  const unsigned: UnsignedTx = {
    kind,
    account: key,
    nonce: place === -1 ? 0n : nonceOf(state.view.accounts, place),
    fee: state.params.feePerByte * BigInt(FIXED_BYTES + payload.length + 96 * (more.payer?.length ?? 0)),
    lastSlot: state.view.slot + 5n,
    payer: [],
    payload,
    ...more,
  }
  const message = txMessage(state.genesisHash, unsigned)
  const payerSig = unsigned.payer.map((payer) => signAs(payer, message))
  return { ...unsigned, sig: signAs(key, message), payerSig, ...more }
}

/** Ends epochs without a block where one is skipped, so that the lists of the slot are known. */
function authorAt(state: ChainState, slot: bigint) {
  const epoch = epochOf(slot, state.params)
  const { view } = state
  const list = eligibleIn(view, epoch)
  const eta = etaOf(view, epoch)
  const alpha = slotAlpha(state.genesisHash, eta, slot)
  for (const place of list.places) {
    const { weight, vrfKey, isBoot } = lotteryPlace(view, epoch, place)!
    const y = lotteryNumber(betaOf(vrfKey, alpha))
    if (y < leaderThreshold(state.params)(weight, list.total))
      return { place, kind: isBoot ? BY_BOOT_WEIGHT : 0, vrfProof: proofOf(vrfKey, alpha) }
  }
  const place = list.places[secondaryAuthor(list.draw!, eta, slot)]!
  const { isBoot } = lotteryPlace(view, epoch, place)!
  return { place, kind: SECONDARY + (isBoot ? BY_BOOT_WEIGHT : 0), vrfProof: NO_BYTES(80) }
}

/** The block that the author of a slot makes: the next slot unless one is named. An epoch may not be skipped. */
export function make(state: ChainState, txs: Tx[] = [], slot = state.view.slot + 1n, commit: Commit[] = []): Made {
  const { place, kind, vrfProof } = authorAt(state, slot)
  const author = state.view.accounts.key.get(place)
  const draft = { slot, author, kind, vrfProof, body: { txs, commit } }
  return makeBlock(state, draft, (message) => signAs(author, message), standIns)
}

/** The state after a block with these transactions; throws with the code where it is refused. */
export function advance(
  state: ChainState,
  txs: Tx[] = [],
  slot = state.view.slot + 1n,
  commit: Commit[] = [],
): ChainState {
  const made = make(state, txs, slot, commit)
  if ('problem' in made) throw new Error(`${made.problem.code} ${made.problem.where}`)
  const applied: Applied = applyBlock(state, made.block, standIns)
  if ('problem' in applied) throw new Error(`${applied.problem.code} ${applied.problem.where}`)
  return applied.state
}

/** Empty blocks until the first slot of an epoch has one. */
export function advanceTo(state: ChainState, epoch: bigint): ChainState {
  let at = state
  while (at.view.epoch < epoch) at = advance(at, [], (at.view.epoch + 1n) * at.params.epochSlots)
  return at
}

/** A commit by all voters of the set in charge, for the newest block that a block on top may record. */
export function commitOf(
  state: ChainState,
  target: Uint8Array,
  targetSlot: bigint,
  more: Partial<Commit> = {},
): Commit {
  const set = epochOf(state.view.final.slot, state.params)
  const { voters } = votersOf(state, set)!
  const fields = { set, round: targetSlot / state.params.roundSlots + 1n, target, targetSlot, late: 0, ...more }
  const sigs = voters.map(({ key }) => {
    const vote = { kind: PRECOMMIT, lockRound: fields.round, voter: key }
    return signAs(key, voteMessage(state.genesisHash, { ...fields, ...vote }))
  })
  return { ...fields, voters: BitArray.fromBoolArray(voters.map(() => true)), sigs, ...more }
}

/** A commit for the newest block that the set in charge may decide about. */
export function commitOfHead(state: ChainState): Commit {
  const { epochSlots } = state.params
  const set = state.view.final.slot / epochSlots
  const blocks = [...state.view.blocks.getAllReadonlyValues(), { slot: state.view.slot, hash: state.head }]
  const isAllowed = (slot: bigint, before: bigint | undefined) =>
    slot / epochSlots === set || (before !== undefined && before / epochSlots === set)
  const { slot, hash } = blocks.filter((block, i) => isAllowed(block.slot, blocks[i - 1]?.slot)).at(-1)!
  return commitOf(state, hash, slot)
}

/** All units that anybody holds. */
export const unitsOf = ({ view }: ChainState): bigint => unitsHeld(view)
