import { equalBytes } from '../../core/bytes/bytes.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { fromHex } from '../../core/bytes/hex.ts'
import { signTx } from '../../core/chain/signTx.ts'
import { PublishType } from '../../core/chain/transactions/payloads.ts'
import { checkScoreProof, type RoundRecord } from '../../core/ledger/roundRecord.ts'
import type { AccountView, ChainAccess } from '../../ports/chainAccess.ts'
import { type Ledger, OTHER_ROOT, type Publication } from '../../ports/ledger.ts'
import { fault } from './faults.ts'

const PUBLISH = 25

/** Rounds on our own chain, under the account whose key signs them. The chain keeps the last round of each account. */
export function chainLedger(chain: ChainAccess, signer: Signer): Ledger {
  /** The last slot of what was last sent: until then it may still come into a block. */
  let sentUntil = -1n
  return {
    async publish(record, signal) {
      const known = await chain.account(signer.publicKey, 'final', signal)
      const final = placeOf(record, known)
      if (final === 'same') return { kind: 'published', where: `chain account ${record.validator}` }
      if (final === 'passed') return OTHER_ROOT
      const head = await chain.account(signer.publicKey, 'head', signal)
      const soon = placeOf(record, head)
      if (soon === 'same') return { kind: 'pending', why: 'it is in a block that is not final yet' }
      // The branch may still lose: what is final decides.
      if (soon === 'passed') return { kind: 'pending', why: 'another round stands on a branch that is not final' }
      const terms = await chain.terms(signal)
      if (terms.slot <= sentUntil) return { kind: 'pending', why: 'sent, and in no block yet' }
      const payload = PublishType.serialize({ round: BigInt(record.round), root: fromHex(record.root, 32)! })
      const tx = signTx(signer, { kind: PUBLISH, nonce: head?.nonce ?? 0n, payload }, terms)
      const refusal = await chain.submit(tx, signal)
      if (refusal !== null)
        throw fault('LEDGER_REFUSED', { url: 'the chain', why: `${refusal.code} at ${refusal.where}` })
      sentUntil = terms.slot + terms.epochSlots
      return { kind: 'pending', why: 'sent' } satisfies Publication
    },
    confirms: chainWitness(chain),
  }
}

/** What our chain says of a score: it knows the last round of each account, under the key that signed it. */
export const chainWitness =
  (chain: ChainAccess): Ledger['confirms'] =>
  async (proof, signal) => {
    const known = await chain.account(fromHex(proof.validator, 32)!, 'final', signal)
    return checkScoreProof(proof) === null && placeOf(proof, known) === 'same'
  }

/** Where the last round of an account stands beside this one. */
function placeOf(
  { round, root }: Pick<RoundRecord, 'round' | 'root'>,
  known: AccountView | null,
): 'same' | 'passed' | 'before' {
  if (known === null || known.round < BigInt(round)) return 'before'
  return known.round === BigInt(round) && equalBytes(known.roundRoot, fromHex(root, 32)!) ? 'same' : 'passed'
}
