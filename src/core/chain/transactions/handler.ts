import type { Type } from '@chainsafe/ssz'
import type { Refusal, Working } from '../chainState.ts'
import { problem } from '../problems.ts'
import { decodeExactly } from '../ssz.ts'

/** Applies the payload of a transaction of the account at `place`, or says why not. */
export type Handler = (working: Working, place: number, payload: Uint8Array) => Refusal

/** A handler of one kind of payload, strictly decoded. */
export const handler =
  <V>(type: Type<V>, apply: (working: Working, place: number, payload: V) => Refusal): Handler =>
  (working, place, bytes) => {
    const payload = decodeExactly(type, bytes)
    return payload === null ? problem('MALFORMED', 'payload') : apply(working, place, payload)
  }
