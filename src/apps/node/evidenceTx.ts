import type { Signer } from '../../core/bytes/ed25519.ts'
import type { ChainState } from '../../core/chain/chainState.ts'
import { spelledVote, voteOffence } from '../../core/chain/consensus/vote.ts'
import type { VotePair } from '../../core/chain/consensus/voteBook.ts'
import { txBytes, txMessage } from '../../core/chain/signing.ts'
import { type Header, TxType } from '../../core/chain/ssz.ts'
import { EvidenceType } from '../../core/chain/transactions/evidence.ts'

const EVIDENCE = 24
const TWO_BLOCKS = 0
const TWO_VOTES = 1
const BROKEN_LOCK = 2

/** The payload that proves two headers of one author and slot, or two votes of one voter. */
export const evidenceOfHeaders = (pair: readonly [Header, Header]): Uint8Array =>
  EvidenceType.serialize({ offence: TWO_BLOCKS, headers: [...pair], votes: [] })

export function evidenceOfVotes([a, b]: VotePair): Uint8Array {
  // The precommit before the prevote that broke it.
  const votes = [a, b]
    .sort((one, other) => other.kind - one.kind)
    .map((vote) => ({ ...spelledVote(vote), sig: vote.signature }))
  const offence = voteOffence(a, b) === 'brokenLock' ? BROKEN_LOCK : TWO_VOTES
  return EvidenceType.serialize({ offence, headers: [], votes })
}

/** A report of this account, at the usual fee, valid for an epoch from the slot on. */
export function evidenceTx(
  { genesisHash, params }: ChainState,
  signer: Signer,
  { payload, nonce, slot }: { readonly payload: Uint8Array; readonly nonce: bigint; readonly slot: bigint },
): Uint8Array {
  const none = { sig: new Uint8Array(64), payerSig: [], payer: [] }
  const lastSlot = slot + params.epochSlots - 1n
  const blank = { kind: EVIDENCE, account: signer.publicKey, nonce, fee: 0n, lastSlot, payload, ...none }
  const tx = { ...blank, fee: params.feePerByte * BigInt(txBytes(blank)) }
  return TxType.serialize({ ...tx, sig: signer.sign(txMessage(genesisHash, tx)) })
}
