import type { Signer } from '../../core/bytes/ed25519.ts'
import { spelledVote, voteOffence } from '../../core/chain/consensus/vote.ts'
import type { VotePair } from '../../core/chain/consensus/voteBook.ts'
import { signTx } from '../../core/chain/signTx.ts'
import type { Header } from '../../core/chain/ssz.ts'
import { EvidenceType } from '../../core/chain/transactions/evidence.ts'
import type { ChainNode, Submitted } from '../../ports/chainNode.ts'

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

/** Who reports an offence gets a tenth of what it costs (§3.7). */
export async function sendEvidence(node: ChainNode, signer: Signer, payload: Uint8Array): Promise<void> {
  const { genesisHash, params } = await node.headState()
  let result: Submitted
  do {
    const [nonce, slot] = [await node.nextNonce(signer.publicKey), BigInt(node.status().slot)]
    const wanted = { kind: EVIDENCE, nonce, payload, lastSlot: slot + params.epochSlots - 1n }
    result = await node.submit(signTx(signer, wanted, { genesisHash, ...params, slot }))
    // Another of this account took its place meanwhile (attack 382).
  } while (result.kind === 'refused' && result.problem.code === 'TWICE')
}
