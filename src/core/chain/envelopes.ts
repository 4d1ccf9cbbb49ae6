import { equalBytes } from '../bytes/bytes.ts'
import type { CheckSignature } from '../bytes/ed25519.ts'
import { SECONDARY } from './applyBlock.ts'
import { decodeBlock, decodeHeader } from './blockBytes.ts'
import { type ChainState, type Checks, etaOf, findAccount, located } from './chainState.ts'
import type { Vrf } from './ecvrf.ts'
import { slotAlpha } from './lottery.ts'
import { epochOf } from './params.ts'
import { headerMessage, txMessage } from './signing.ts'
import { lotteryPlace } from './snapshots.ts'
import type { Block, Tx } from './ssz.ts'

/** What the proof of a primary block must be of: the key of its author, and the slot's input. */
export interface Lot {
  readonly key: Uint8Array
  readonly alpha: Uint8Array
}

/** A row of blocks to be checked before it is known what they stand on: a lot for each whose lot can be told already. */
export interface RowToCheck {
  readonly blocks: readonly Uint8Array[]
  readonly lots: readonly (Lot | null)[]
}

/** A proof that is right, and what it draws. */
export interface Drawn extends Lot {
  readonly proof: Uint8Array
  readonly beta: Uint8Array
}

/** What is known of a row: how many blocks, from its start, have right signatures, and the proofs that were found right. */
export interface CheckedRow {
  readonly right: number
  readonly drawn: readonly Drawn[]
}

interface RowChecks {
  readonly genesisHash: Uint8Array
  readonly signature: CheckSignature
  readonly vrf: Vrf['verify']
}

/** Checks all of a row that needs no state: signatures of headers and transactions, and proofs whose lot is known. */
export function checkRow({ blocks, lots }: RowToCheck, checks: RowChecks): CheckedRow {
  const drawn: Drawn[] = []
  for (const [at, bytes] of blocks.entries()) {
    const block = decodeBlock(bytes)
    if (block === null || !isSigned(block, checks)) return { right: at, drawn }
    const [lot, proof] = [lots[at], block.header.vrfProof]
    const beta = lot == null ? null : checks.vrf(lot.key, lot.alpha, proof)
    // One that is wrong is refused where the block is applied, with its reason.
    if (lot != null && beta !== null) drawn.push({ ...lot, proof: proof.slice(), beta })
  }
  return { right: blocks.length, drawn }
}

function isSigned({ header, body }: Block, { genesisHash, signature }: RowChecks): boolean {
  const isRight = (tx: Tx): boolean => {
    const message = txMessage(genesisHash, tx)
    const isPaid =
      tx.payerSig.length === tx.payer.length && tx.payer.every((key, i) => signature(tx.payerSig[i]!, message, key))
    return isPaid && signature(tx.sig, message, tx.account)
  }
  return signature(header.sig, headerMessage(genesisHash, header), header.author) && body.txs.every(isRight)
}

/**
 * The lots of blocks that come some time after a state, as far as it can tell: keys and randomness are fixed two epochs
 * before they are used. A guess about a branch: what is drawn counts only where the block turns out to have this lot.
 */
export function lotsAfter(state: ChainState, blocks: readonly Uint8Array[]): (Lot | null)[] {
  return blocks.map((bytes) => {
    const header = decodeHeader(bytes)
    if (header === null || (header.kind & SECONDARY) !== 0) return null
    const epoch = epochOf(header.slot, state.params)
    const place = findAccount(located(state), header.author)
    if (place === -1 || epoch < state.view.epoch || epoch > state.view.epoch + 1n) return null
    const entry = lotteryPlace(state.view, epoch, place)
    const alpha = slotAlpha(state.genesisHash, etaOf(state.view, epoch), header.slot)
    return entry === null ? null : { key: entry.vrfKey, alpha }
  })
}

/** Checks for blocks whose signatures are known to be right: a proof that was found right is not checked again. */
export function checksKnowing(checks: Checks, drawn: readonly Drawn[]): Checks {
  const known = new Map(drawn.map((each) => [nameOf(each.proof), each]))
  const vrf: Vrf['verify'] = (key, alpha, proof) => {
    const found = known.get(nameOf(proof))
    const isSame =
      found !== undefined &&
      equalBytes(found.key, key) &&
      equalBytes(found.alpha, alpha) &&
      equalBytes(found.proof, proof)
    return isSame ? found.beta : checks.vrf(key, alpha, proof)
  }
  return { ...checks, envelopesChecked: true, vrf }
}

/** The challenge in a proof: as good as unique. */
const nameOf = (proof: Uint8Array): string => String.fromCharCode(...proof.subarray(32, 48))
