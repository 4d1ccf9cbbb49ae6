import type { Type } from '@chainsafe/ssz'
import type { Refusal, Working } from '../chainState.ts'
import { decodeExactly } from '../ssz.ts'

/** Applies a transaction of the account at `place`, or says why not. */
type Apply = (working: Working, place: number) => Refusal

/** Reads a payload, whatever the state; null if it is none. */
export type Handler = (payload: Uint8Array) => Apply | null

/** A handler of one kind of payload, strictly decoded. */
export const handler =
  <V>(type: Type<V>, apply: (working: Working, place: number, payload: V) => Refusal): Handler =>
  (bytes) => {
    const payload = decodeExactly(type, bytes)
    return payload === null ? null : (working, place) => apply(working, place, payload)
  }
