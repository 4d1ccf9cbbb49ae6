import { ascii, concatBytes, equalBytes } from '../../bytes/bytes.ts'
import { taggedHash } from '../../bytes/sha256.ts'
import { u64be } from '../bigEndian.ts'
import { etaOf, findBox, type Refusal, type Working, workingEpoch } from '../chainState.ts'
import { faded } from '../epoch/settleScores.ts'
import { problem } from '../problems.ts'
import { compareBytes } from '../snapshots.ts'
import { BoxType, ReportCommitType, valuesOf } from '../stateType.ts'
import { handler } from './handler.ts'
import { BoxAddType, BoxRemoveType, EntriesType, PublishType, ReportType, RevealType } from './payloads.ts'

/** What a box signs to belong to an account. */
export const boxAddMessage = (genesisHash: Uint8Array, box: Uint8Array, account: Uint8Array): Uint8Array =>
  taggedHash('ts1/boxAdd', genesisHash, box, account)

/** What a box signs for a validator that checked it: a report that was copied from another has no such signature. */
export const runMessage = (
  genesisHash: Uint8Array,
  epoch: bigint,
  validator: Uint8Array,
  certificate: Uint8Array,
): Uint8Array => taggedHash('ts1/run', genesisHash, u64be(epoch), validator, certificate)

export const boxAdd = handler(BoxAddType, (working, place, { box, boxSig }) => {
  const { state, checks, accounts, genesisHash } = working
  const known = findBox(working, box)
  if (known !== -1 && state.boxes.getReadonly(known).account !== 0) return problem('BOX', 'payload.box')
  if (!checks.key(box)) return problem('KEY', 'payload.box')
  if (!checks.signature(boxSig, boxAddMessage(genesisHash, box, accounts.key.get(place)), box))
    return problem('SIGNATURE', 'payload.boxSig')
  if (known !== -1) {
    state.boxes.get(known).account = place + 1
    return null
  }
  working.boxPlaces.note(box, state.boxes.length)
  state.boxes.push(BoxType.toViewDU({ ...BoxType.defaultValue(), key: box, account: place + 1 }))
  return null
})

export const boxRemove = handler(BoxRemoveType, ({ state, boxPlaces }, place, { box }) => {
  const known = findBox({ state, boxPlaces }, box)
  if (known === -1 || state.boxes.getReadonly(known).account !== place + 1) return problem('BOX', 'payload.box')
  state.boxes.set(known, BoxType.toViewDU({ ...BoxType.defaultValue(), key: box }))
  return null
})

/** What a report hides until the next epoch. */
export const reportCommitment = (
  validator: Uint8Array,
  { epoch, salt, entries }: Pick<Reveal, 'epoch' | 'salt' | 'entries'>,
): Uint8Array => taggedHash('ts1/report', validator, u64be(epoch), salt, EntriesType.hashTreeRoot(entries))

type Reveal = ReturnType<typeof RevealType.defaultValue>

export const report = handler(ReportType, (working, place, { epoch, commitment }) => {
  const { state, params, slot } = working
  if (!state.validators.getAll().includes(place)) return problem('VALIDATOR', 'account')
  if (epoch !== workingEpoch(working)) return problem('EPOCH', 'payload.epoch')
  // Early enough that nobody can write it after the first reveals of the next epoch.
  if (6n * (slot - epoch * params.epochSlots) >= 5n * params.epochSlots) return problem('TOO_LATE', 'payload.epoch')
  const known = valuesOf(state.reports)
  if (known.some((entry) => entry.validator === place && entry.epoch === epoch)) return problem('TWICE', 'payload')
  state.reports.push(ReportCommitType.toViewDU({ validator: place, epoch, commitment, revealed: 0 }))
  return null
})

/** What a validator's VRF is asked in an epoch: who knows its answer knows which boxes it must check. */
export const boxAlpha = (eta: Uint8Array): Uint8Array => concatBytes(ascii('ts1-box'), eta)

/** By a number that only the validator knows before it reveals. */
export const boxDraw = (beta: Uint8Array, box: Uint8Array): Uint8Array => taggedHash('ts1/box', beta, box)

/** One box in four. */
export const isBoxDrawn = (beta: Uint8Array, box: Uint8Array): boolean => boxDraw(beta, box)[31]! % 4 === 0

export const reveal = handler(RevealType, (working, place, payload) => {
  const { state, accounts, checks } = working
  if (payload.epoch + 1n !== workingEpoch(working)) return problem('EPOCH', 'payload.epoch')
  const at = valuesOf(state.reports).findIndex(
    ({ validator, epoch, revealed }) => validator === place && epoch === payload.epoch && revealed === 0,
  )
  if (at === -1) return problem('VALIDATOR', 'account')
  const key = accounts.key.get(place)
  if (!equalBytes(state.reports.getReadonly(at).commitment, reportCommitment(key, payload)))
    return problem('COMMITMENT', 'payload')
  if (accounts.vrfFrom.get(place) > payload.epoch) return problem('PROOF', 'payload.vrfProof')
  const beta = checks.vrf(accounts.vrfKey.get(place), boxAlpha(etaOf(state, payload.epoch)), payload.vrfProof)
  if (beta === null) return problem('PROOF', 'payload.vrfProof')
  for (const [i, entry] of payload.entries.entries()) {
    const follows = i === 0 || compareBytes(payload.entries[i - 1]!.box, entry.box) < 0
    const refusal = follows ? checkEntry(working, payload.epoch, key, beta, entry) : problem('TWICE', 'box')
    if (refusal !== null) return { ...refusal, where: `payload.entries[${i}].${refusal.where}` }
  }
  for (const entry of payload.entries) keepReport(working, place, payload.epoch, entry)
  state.reports.get(at).revealed = 1
  return null
})

/** Rounds only go up: what an account has said of one it never says otherwise. */
export const publish = handler(PublishType, ({ accounts }, place, { round, root }) => {
  if (round <= accounts.round.get(place)) return problem('TWICE', 'payload.round')
  accounts.round.set(place, round)
  accounts.roundRoot.set(place, root)
  return null
})

type Entry = Reveal['entries'][number]

/** Not whether the box is registered: its owner could void the report of everybody who was drawn for it. */
function checkEntry(working: Working, epoch: bigint, validator: Uint8Array, beta: Uint8Array, entry: Entry): Refusal {
  if (!isBoxDrawn(beta, entry.box)) return problem('DRAW', 'box')
  if (entry.score === 0n)
    return entry.capacity === 0n && entry.boxSig.every((byte) => byte === 0) ? null : problem('AMOUNT', 'capacity')
  const message = runMessage(working.genesisHash, epoch, validator, entry.certificate)
  return working.checks.signature(entry.boxSig, message, entry.box) ? null : problem('SIGNATURE', 'boxSig')
}

/**
 * Three parts old and one new, towards what was seen: who is there half of the time has half a score. What counted for
 * nothing any more starts anew from 0, so that nobody gains by removing a box and adding it again.
 */
export function meanOf(before: bigint, seen: bigint): bigint {
  const rounded = seen > before ? 3n : 0n
  return (3n * before + seen + rounded) / 4n
}

/** The word of a validator about a box that is still registered; those who are no validators any more make room. */
function keepReport(working: Working, validator: number, epoch: bigint, entry: Entry): void {
  const { state } = working
  const { box, score, capacity, model, certificate } = entry
  const at = findBox(working, box)
  if (at === -1 || state.boxes.getReadonly(at).account === 0) return
  const view = state.boxes.get(at)
  const validators = state.validators.getAll()
  const others = valuesOf(view.reports).filter(
    (kept) => kept.validator !== validator && validators.includes(kept.validator),
  )
  const before = valuesOf(view.reports).find((kept) => kept.validator === validator)
  const left = before === undefined ? 0n : faded(before.score, epoch - before.epoch)
  // Capacity only bounds work that is proven by itself, so its last word counts.
  const mine = { validator, epoch, score: meanOf(left, score), capacity, model, certificate }
  // A validator that has just left the list has no stake in the scores, and its word no room.
  const reports = validators.includes(validator) ? [...others, mine] : others
  view.reports = BoxType.fields.reports.toViewDU(reports)
}
