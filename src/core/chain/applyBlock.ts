import { equalBytes } from '../bytes/bytes.ts'
import { type ChainState, type Checks, etaOf, findAccount, type Refusal, type Working } from './chainState.ts'
import type { Win } from './consensus/chainBlock.ts'
import { endEpoch } from './epoch/endEpoch.ts'
import { add, burn, partOf, reward } from './ledger.ts'
import { blockRandomness, lotteryNumber, secondaryAuthor, slotAlpha } from './lottery.ts'
import { epochOf, WEEK } from './params.ts'
import { type Problem, type ProblemCode, problem } from './problems.ts'
import { recordCommit } from './recordCommit.ts'
import { blockHash, bodyBytes, bodyRoot, headerMessage } from './signing.ts'
import { eligibleIn, isJailed, leaderThreshold, lotteryPlace } from './snapshots.ts'
import { type Block, type Body, type Header, MAX_BLOCK_TXS, type UnsignedHeader } from './ssz.ts'
import { BlockRefType } from './stateType.ts'
import { arrivalOf } from './threshold.ts'
import { applyTx } from './transactions/applyTx.ts'
import { rootOf } from './treeRoot.ts'

/** A block is primary, won by the VRF, or secondary, drawn by weight; the second bit says that boot weight won it. */
export const SECONDARY = 1
export const BY_BOOT_WEIGHT = 2

/** A chain that stood still for longer goes on from a checkpoint: nobody makes a node work through years of epochs. */
const MOST_EPOCHS_PASSED = WEEK

export type Applied = { readonly state: ChainState; readonly win: Win | null } | { readonly problem: Problem }

/** The state after a block, or why it is refused. The state given stays as it is. */
export function applyBlock(state: ChainState, { header, body }: Block, checks: Checks): Applied {
  if (!equalBytes(header.bodyRoot, bodyRoot(body))) return { problem: problem('BODY_ROOT', 'header.bodyRoot') }
  // Before anything that costs more: epochs that a block leaves behind are work.
  if (!isSealed(state, header, checks)) return { problem: problem('SIGNATURE', 'header.sig') }
  const result = execute(state, header, body, checks)
  if ('problem' in result) return result
  const { working, win } = result
  if (!equalBytes(rootOf(working.state), header.stateRoot))
    return { problem: problem('STATE_ROOT', 'header.stateRoot') }
  return { state: { ...state, head: blockHash(header), view: working.state }, win }
}

const isSealed = ({ genesisHash }: ChainState, header: Header, { signature, envelopesChecked }: Checks): boolean =>
  envelopesChecked === true || signature(header.sig, headerMessage(genesisHash, header), header.author)

/** What an author knows of a block before its roots. */
export type Draft = Pick<UnsignedHeader, 'slot' | 'author' | 'kind' | 'vrfProof'> & { readonly body: Body }

export type Made = { readonly block: Block; readonly state: ChainState } | { readonly problem: Problem }

/** A block on top of a state, with its roots and its signature. */
export function makeBlock(
  state: ChainState,
  draft: Draft,
  sign: (message: Uint8Array) => Uint8Array,
  checks: Checks,
): Made {
  const { body, ...mine } = draft
  const blank = { ...mine, parent: state.head, stateRoot: new Uint8Array(32), bodyRoot: bodyRoot(body) }
  const result = execute(state, blank, body, checks)
  if ('problem' in result) return result
  const view = result.working.state
  const unsigned = { ...blank, stateRoot: rootOf(view) }
  const header: Header = { ...unsigned, sig: sign(headerMessage(state.genesisHash, unsigned)) }
  return { block: { header, body }, state: { ...state, head: blockHash(header), view } }
}

type Executed = { readonly working: Working; readonly win: Win | null } | { readonly problem: Problem }

function execute(state: ChainState, header: UnsignedHeader, body: Body, checks: Checks): Executed {
  const shape = checkShape(state, header, body)
  if (shape !== null) return { problem: shape }
  const view = state.view.clone()
  view.blocks.push(BlockRefType.toViewDU({ slot: view.slot, hash: header.parent }))
  for (const epoch = epochOf(header.slot, state.params); view.epoch < epoch; )
    endEpoch({ state: view, accounts: view.accounts, params: state.params })
  const { params, genesisHash, places, boxPlaces } = state
  const working: Working = {
    ...{ params, genesisHash, places, boxPlaces, checks, state: view, accounts: view.accounts },
    slot: header.slot,
  }
  const admitted = admitAuthor(working, header)
  if ('problem' in admitted) return admitted
  const refusal = applyBody(working, body, header)
  if (refusal !== null) return { problem: refusal }
  view.slot = header.slot
  return { working, win: admitted.win }
}

function checkShape({ head, view, params }: ChainState, header: UnsignedHeader, body: Body): Refusal {
  if (!equalBytes(header.parent, head)) return problem('PARENT', 'header.parent')
  if (header.slot <= view.slot || header.slot >= 1n << 64n) return problem('SLOT', 'header.slot')
  if (epochOf(header.slot, params) > view.epoch + MOST_EPOCHS_PASSED) return problem('SLOT', 'header.slot')
  if (!Number.isInteger(header.kind) || header.kind < 0 || header.kind > 3) return problem('KIND', 'header.kind')
  if (body.txs.length > MAX_BLOCK_TXS || body.commit.length > 1) return problem('SIZE', 'body')
  return BigInt(bodyBytes(body)) > params.blockBytes ? problem('SIZE', 'body') : null
}

type Admitted = { readonly win: Win | null } | { readonly problem: Problem }

/** Whether the author may make this block (§3.3); the share of randomness of a primary one joins the list. */
function admitAuthor(working: Working, header: UnsignedHeader): Admitted {
  const refuse = (code: ProblemCode, where: string) => ({ problem: problem(code, where) })
  const { state, params, checks, genesisHash } = working
  const epoch = epochOf(header.slot, params)
  const place = findAccount(working, header.author)
  if (place === -1) return refuse('AUTHOR', 'header.author')
  if (isJailed(state.accounts.jailedUntil.get(place), epoch)) return refuse('JAILED', 'header.author')
  const entry = lotteryPlace(state, epoch, place)
  if (entry === null) return refuse('AUTHOR', 'header.author')
  if (((header.kind & BY_BOOT_WEIGHT) !== 0) !== entry.isBoot) return refuse('KIND', 'header.kind')
  const { draw, total, places } = eligibleIn(state, epoch)
  const eta = etaOf(state, epoch)
  if ((header.kind & SECONDARY) !== 0) {
    if (header.vrfProof.some((byte) => byte !== 0)) return refuse('PROOF', 'header.vrfProof')
    return places[secondaryAuthor(draw!, eta, header.slot)] === place ? { win: null } : refuse('DRAW', 'header.author')
  }
  const beta = checks.vrf(entry.vrfKey, slotAlpha(genesisHash, eta, header.slot), header.vrfProof)
  if (beta === null) return refuse('PROOF', 'header.vrfProof')
  const number = lotteryNumber(beta)
  if (number >= leaderThreshold(params)(entry.weight, total)) return refuse('DRAW', 'header.vrfProof')
  const randomness = blockRandomness(beta)
  state.randomness.push(randomness)
  return { win: { arrival: arrivalOf(number, entry.weight, total), randomness } }
}

function applyBody(working: Working, { txs, commit }: Body, { author, kind }: UnsignedHeader): Refusal {
  const { state, params, slot } = working
  const epoch = epochOf(slot, params)
  const place = findAccount(working, author)
  state.votesDue += (partOf('voteShare', epoch, params) / params.epochSlots) * (slot - state.slot)
  const refused = commit.length === 0 ? null : recordCommit(working, commit[0]!, place)
  if (refused !== null) return { ...refused, where: `body.commit[0].${refused.where}` }
  let fees = 0n
  for (const [at, tx] of txs.entries()) {
    const refusal = applyTx(working, tx)
    if (refusal !== null) return { ...refusal, where: `body.txs[${at}].${refusal.where}` }
    fees += tx.fee
  }
  burn(working, fees - fees / 2n)
  add(working, 'balance', place, fees / 2n)
  const full = partOf('blockShare', epoch, params) / params.epochSlots
  reward(working, place, (kind & SECONDARY) === 0 ? full : (full * 30n) / 100n)
  return null
}
