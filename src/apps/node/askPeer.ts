import type { Quorum } from '../../core/chain/consensus/vote.ts'
import {
  ANSWER_LIMIT_BYTES,
  decodeBlocks,
  decodeQuorums,
  decodeStateChunk,
  decodeStatus,
  encodeQuestion,
  MOST_ANCESTORS,
  MOST_BLOCKS,
  type Question,
  type StateChunk,
  type Status,
} from '../../core/chain/wire/requests.ts'
import type { Network } from '../../ports/network.ts'

const TIMEOUT_MS = 10_000

/** Asks one peer. Null for no answer; one that no honest node gives is reported. */
async function ask<T>(network: Network, peer: string, question: Question, decode: (bytes: Uint8Array) => T | null) {
  const limits = { mostBytes: ANSWER_LIMIT_BYTES, timeoutMs: TIMEOUT_MS }
  const bytes = await network.request(peer, encodeQuestion(question), limits)
  if (bytes === null) return null
  const answer = decode(bytes)
  if (answer === null) network.report(peer)
  return answer
}

export const askStatus = (network: Network, peer: string): Promise<Status | null> =>
  ask(network, peer, { kind: 'status' }, decodeStatus)

export const askBlocks = (network: Network, peer: string, from: number): Promise<Uint8Array[] | null> =>
  ask(network, peer, { kind: 'blocks', from, count: MOST_BLOCKS }, decodeBlocks)

export const askAncestors = (network: Network, peer: string, id: string, count = MOST_ANCESTORS) =>
  ask(network, peer, { kind: 'ancestors', id, count }, decodeBlocks)

export const askQuorums = (network: Network, peer: string, set: number): Promise<Quorum[] | null> =>
  ask(network, peer, { kind: 'quorums', set }, decodeQuorums)

export const askState = (network: Network, peer: string, id: string, chunk: number): Promise<StateChunk | null> =>
  ask(network, peer, { kind: 'state', id, chunk }, decodeStateChunk)
