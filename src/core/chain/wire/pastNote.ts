import { ByteListType, ContainerType } from '@chainsafe/ssz'
import type { Past } from '../consensus/consensusNode.ts'
import { decodeExactly, U64 } from '../ssz.ts'
import { decodeQuorum, encodeQuorum } from './messages.ts'

/** What a voter keeps on disk before it sends a vote. */
export type VoterNote = Pick<Past, 'voted' | 'lock'>

const VoterNoteType = new ContainerType({ prevoted: U64, precommitted: U64, lock: new ByteListType(1 << 20) })

export const encodeVoterNote = ({ voted, lock }: VoterNote): Uint8Array =>
  VoterNoteType.serialize({
    prevoted: BigInt(voted[0]),
    precommitted: BigInt(voted[1]),
    lock: lock === null ? new Uint8Array(0) : encodeQuorum(lock),
  })

/** Null where it is not one: a voter without its past must not vote. */
export function decodeVoterNote(bytes: Uint8Array): VoterNote | null {
  const note = decodeExactly(VoterNoteType, bytes)
  if (note === null) return null
  const lock = note.lock.length === 0 ? null : decodeQuorum(note.lock)
  if (note.lock.length > 0 && lock === null) return null
  return { voted: [Number(note.prevoted), Number(note.precommitted)], lock }
}
