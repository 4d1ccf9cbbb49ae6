import type { Quorum } from '../../core/chain/consensus/vote.ts'
import { decodeBoxQuestion, NO_ANSWER } from '../../core/chain/wire/boxQuestions.ts'
import {
  decodeQuestion,
  encodeBlocks,
  encodeQuorums,
  encodeStateChunk,
  encodeStatus,
  MOST_ANSWER_BYTES,
  type Question,
  STATE_CHUNK_BYTES,
  type Status,
} from '../../core/chain/wire/requests.ts'
import type { ChainStore } from '../../ports/chainStore.ts'

/** What questions are answered from. */
export interface AnswerSource {
  readonly store: ChainStore
  status(): Status
  quorumsSince(set: number): readonly Quorum[]
}

/** The answer to a question of another node; null for one that no honest node asks. What is not known is an empty answer. */
export async function answer(bytes: Uint8Array, source: AnswerSource): Promise<Uint8Array | null> {
  const question = decodeQuestion(bytes)
  if (question === null) return null
  switch (question.kind) {
    case 'status':
      return encodeStatus(source.status())
    case 'blocks':
      return encodeBlocks(await blocksFrom(source.store, question))
    case 'ancestors':
      return encodeBlocks(await ancestorsOf(source.store, question))
    case 'quorums':
      return encodeQuorums(source.quorumsSince(question.set))
    case 'state':
      return encodeStateChunk(await stateChunk(source.store, question))
  }
}

/** A node without a box has nothing to say about one; what no honest node asks is still told apart. */
export const answerWithoutBox = async (bytes: Uint8Array): Promise<Uint8Array | null> =>
  decodeBoxQuestion(bytes) === null ? null : NO_ANSWER

async function blocksFrom(store: ChainStore, { from, count }: Extract<Question, { kind: 'blocks' }>) {
  const blocks: Uint8Array[] = []
  let bytes = 0
  for (let height = from; height < from + count; height++) {
    const id = await store.idAt(height)
    const block = id === null ? null : await store.block(id)
    if (block === null || bytes + block.length > MOST_ANSWER_BYTES) break
    blocks.push(block)
    bytes += block.length
  }
  return blocks
}

async function ancestorsOf(store: ChainStore, { id, count }: Extract<Question, { kind: 'ancestors' }>) {
  const blocks: Uint8Array[] = []
  let bytes = 0
  for (let at = id; blocks.length < count; ) {
    const [facts, block] = [await store.facts(at), await store.block(at)]
    if (facts === null || block === null || bytes + block.length > MOST_ANSWER_BYTES) break
    blocks.push(block)
    bytes += block.length
    at = facts.parent
  }
  return blocks.reverse()
}

async function stateChunk(store: ChainStore, { id, chunk }: Extract<Question, { kind: 'state' }>) {
  const state = (await store.state(id)) ?? new Uint8Array(0)
  const from = chunk * STATE_CHUNK_BYTES
  return { total: state.length, bytes: state.slice(from, from + STATE_CHUNK_BYTES) }
}
