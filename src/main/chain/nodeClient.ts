import { nodeRoutes } from '../../apps/api/node/nodeRoutes.ts'
import { boxWords } from '../../core/bytes/boxWords.ts'
import { equalBytes } from '../../core/bytes/bytes.ts'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import { checkLightProof, columnGindex, numberInLeaf } from '../../core/chain/lightProof.ts'
import { CHAIN_PRESETS } from '../../core/chain/params.ts'
import { PROBLEM_CODES, type Problem, type ProblemCode, problem } from '../../core/chain/problems.ts'
import { gindexOf } from '../../core/chain/proveEntry.ts'
import { balanceAt, nonceAt } from '../../core/chain/purse.ts'
import { blockHash } from '../../core/chain/signing.ts'
import { decodeExactly, type Header, HeaderType } from '../../core/chain/ssz.ts'
import { askHttp } from '../../drivers/system/askHttp.ts'
import type { AccountView, ChainAccess } from '../../ports/chainAccess.ts'
import type { TouchstoneError } from '../../ports/errors.ts'
import { type Answer, type ApiPlace, type Asked, askApi, MOST_ANSWER_BYTES, type Operation } from '../apiClient.ts'
import { fault } from '../faults.ts'

const LIMIT_MS = 10_000

const FEES_PER_BYTE = Object.values(CHAIN_PRESETS).map(({ feePerByte }) => feePerByte)

/** What a node answers with, over HTTP. Proofs are checked against the header that it names; that the chain has it is its word. */
export class NodeClient implements ChainAccess {
  readonly url: string
  /** The chain that its user means, where he names it. */
  private readonly chain: string | undefined
  private readonly askHttp: typeof askHttp

  constructor(url: string, chain?: string, asking = askHttp) {
    this.url = url.replace(/\/$/, '')
    this.chain = chain
    this.askHttp = asking
  }

  ask<R extends Operation>(route: R, asked: Asked<R>, signal: AbortSignal): Promise<Answer<R>> {
    return askApi(route, asked, this.place(signal))
  }

  private place(signal: AbortSignal): ApiPlace {
    const { url } = this
    const limits = { mostBytes: MOST_ANSWER_BYTES, limitMs: LIMIT_MS }
    return {
      send: (method, path, body) =>
        this.askHttp(
          `${url}${path}`,
          { method: method.toUpperCase(), headers: { 'content-type': 'application/json' }, body, ...limits },
          signal,
        ).catch((cause: unknown) => {
          signal.throwIfAborted()
          throw fault('NODE_NOT_RUNNING', { url }, cause)
        }),
      stranger: (cause) => fault('NOT_A_NODE', { url }, cause),
      refused: ({ code, message, nextStep }) =>
        fault('NODE_REFUSED', { url, said: code, why: boxWords(message), mend: boxWords(nextStep) }),
    }
  }

  async terms(signal: AbortSignal) {
    const { genesis, feePerByte, epochSlots, head, final } = await this.ask(nodeRoutes.getChain, {}, signal)
    // What is signed is paid, and half of it goes to whoever makes the block, who may be this node (attack 248).
    if (!FEES_PER_BYTE.includes(BigInt(feePerByte))) throw this.lie('no chain of this version has such a fee')
    // Whoever has something on two chains would sign for the other one (attack 267).
    if (this.chain !== undefined && genesis !== this.chain) throw this.lie('it is of another chain than you named')
    return {
      genesisHash: fromHex(genesis, 32)!,
      feePerByte: BigInt(feePerByte),
      epochSlots: BigInt(epochSlots),
      slot: BigInt(head.slot),
      finalHeight: final.height,
    }
  }

  async account(key: Uint8Array, at: 'head' | 'final', signal: AbortSignal): Promise<AccountView | null> {
    return (await this.provenAccount(toHex(key), at, signal))?.view ?? null
  }

  /** What an account has, by light proofs, and the block whose header they lead to. */
  async provenAccount(key: string, at: 'head' | 'final', signal: AbortSignal) {
    const asked = { params: { key }, query: { at } }
    const told = await this.ask(nodeRoutes.getAccountProof, asked, signal).catch(orNone)
    if (told === null) return null
    const { block, place } = told
    const root = this.stateRoot(told)
    const leafOf = (column: Parameters<typeof columnGindex>[0], entry: number, proof: ToldProof) =>
      this.leaf(root, columnGindex(column, entry), proof)
    if (toHex(leafOf('key', place, told.key)) !== key) throw this.lie('the proof is of another account')
    const purse = leafOf('purse', nonceAt(place), told.purse)
    const view: AccountView = {
      nonce: numberInLeaf(purse, nonceAt(place), 8),
      balance: numberInLeaf(purse, balanceAt(place), 8),
      round: numberInLeaf(leafOf('round', place, told.round), place, 8),
      roundRoot: leafOf('roundRoot', place, told.roundRoot),
    }
    return { view, block, place }
  }

  /** The score of a box on the chain, by light proofs. */
  async provenScore(box: string, at: 'head' | 'final', signal: AbortSignal) {
    const told = await this.ask(nodeRoutes.getBoxScore, { params: { key: box }, query: { at } }, signal).catch(orNone)
    if (told === null) return null
    const root = this.stateRoot(told)
    const leafOf = (field: string, proof: ToldProof) => this.leaf(root, gindexOf(['boxes', told.place, field]), proof)
    if (toHex(leafOf('key', told.keyProof)) !== box) throw this.lie('the proof is of another box')
    if (numberInLeaf(leafOf('score', told.scoreProof), 0, 8) !== BigInt(told.score))
      throw this.lie('the proof is of another score')
    return told
  }

  async submit(tx: Uint8Array, signal: AbortSignal): Promise<Problem | null> {
    try {
      await this.ask(nodeRoutes.submitTransaction, { body: { transaction: toHex(tx) } }, signal)
      return null
    } catch (error) {
      const code = refusalOf(error)
      if (code === null || !isProblemCode(code)) throw error
      return problem(code, 'transaction')
    }
  }

  /** The root that a header has for the state after it: the header must be that of the block it is said to be. */
  private stateRoot({ block, header }: Pick<Answer<typeof nodeRoutes.getBoxScore>, 'block' | 'header'>): Uint8Array {
    const read = header === null ? null : readHeader(header)
    if (read === null) throw fault('NO_PROOF_YET', { url: this.url })
    const { slot, parent, author } = read
    const isOf =
      toHex(blockHash(read)) === block.id &&
      toHex(parent) === block.parent &&
      toHex(author) === block.author &&
      slot === BigInt(block.slot)
    if (!isOf) throw this.lie('the header is of another block')
    return read.stateRoot
  }

  private leaf(root: Uint8Array, gindex: bigint, { leaf, witnesses }: ToldProof): Uint8Array {
    const proof = { gindex, leaf: fromHex(leaf, 32)!, witnesses: witnesses.map((witness) => fromHex(witness, 32)!) }
    if (!checkLightProof(root, proof)) throw this.lie('a proof does not lead to the state of its block')
    return proof.leaf
  }

  private lie(why: string): TouchstoneError {
    return fault('NODE_LIES', { url: this.url, why })
  }
}

interface ToldProof {
  readonly leaf: string
  readonly witnesses: readonly string[]
}

function readHeader(header: string): Header | null {
  const bytes = fromHex(header, header.length / 2)!
  const read = decodeExactly(HeaderType, bytes)
  return read !== null && equalBytes(HeaderType.serialize(read), bytes) ? read : null
}

const refusalOf = (error: unknown): string | null =>
  fault.is(error, 'NODE_REFUSED') ? String(error.detail.said) : null

const isProblemCode = (code: string): code is ProblemCode => (PROBLEM_CODES as readonly string[]).includes(code)

/** What is not there is an answer; everything else that goes wrong is not. */
function orNone(error: unknown): null {
  if (refusalOf(error) === 'NOT_FOUND') return null
  throw error
}
