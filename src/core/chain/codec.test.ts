import { BitArray, ContainerType, ListCompositeType } from '@chainsafe/ssz'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ascii, concatBytes } from '../bytes/bytes.ts'
import { sha256 } from '../bytes/sha256.ts'
import { decodeBlock } from './blockBytes.ts'
import { blockHash, bodyBytes, bodyRoot, txMessage } from './signing.ts'
import {
  BlockType,
  type Body,
  BodyType,
  Bytes32,
  CommitType,
  decodeExactly,
  decodeTx,
  encodeBlock,
  HeaderType,
  TxType,
  UnsignedHeaderType,
  UnsignedTxType,
  VoteType,
} from './ssz.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const u8 = fc.integer({ min: 0, max: 255 })
const tx = fc.record({
  ...{
    kind: u8,
    account: bytes(32),
    nonce: u64,
    fee: u64,
    lastSlot: u64,
    payer: fc.array(bytes(32), { maxLength: 1 }),
  },
  ...{ payload: fc.uint8Array({ maxLength: 100 }), sig: bytes(64), payerSig: fc.array(bytes(64), { maxLength: 1 }) },
})
const header = fc.record({
  ...{ parent: bytes(32), slot: u64, author: bytes(32), kind: u8, vrfProof: bytes(80) },
  ...{ stateRoot: bytes(32), bodyRoot: bytes(32), sig: bytes(64) },
})
const vote = fc.record({
  ...{ kind: u8, set: u64, round: u64, target: bytes(32), targetSlot: u64, lockRound: u64, late: u8 },
  ...{ voter: bytes(32), sig: bytes(64) },
})
const commit = fc.record({
  ...{ set: u64, round: u64, target: bytes(32), targetSlot: u64, late: u8 },
  voters: fc.array(fc.boolean(), { maxLength: 40 }).map((bits) => BitArray.fromBoolArray(bits)),
  sigs: fc.array(bytes(64), { maxLength: 3 }),
})
const body = fc.record({ txs: fc.array(tx, { maxLength: 4 }), commit: fc.array(commit, { maxLength: 1 }) })
const block = fc.record({ header, body })

/** The same root from the transactions one by one. */
const rootByHand = ({ txs, commit: commits }: Body) => {
  const hashes = new ListCompositeType(Bytes32, 4_096)
  const type = new ContainerType({ txs: hashes, commit: BodyType.fields.commit })
  return type.hashTreeRoot({ txs: txs.map((each) => sha256(TxType.serialize(each))), commit: commits })
}

describe('every codec', () => {
  test('property: a value comes back from its bytes', () => {
    const all = fc.tuple(tx, header, vote, commit, block)
    fc.assert(
      fc.property(all, ([aTx, aHeader, aVote, aCommit, aBlock]) => {
        expect(decodeTx(TxType.serialize(aTx))).toEqual(aTx)
        expect(txMessage(aTx.account, aTx)).toEqual(
          sha256(concatBytes(ascii('ts1/tx'), aTx.account, UnsignedTxType.serialize(aTx))),
        )
        expect(decodeExactly(HeaderType, HeaderType.serialize(aHeader))).toEqual(aHeader)
        expect(decodeExactly(VoteType, VoteType.serialize(aVote))).toEqual(aVote)
        expect(CommitType.equals(decodeExactly(CommitType, CommitType.serialize(aCommit))!, aCommit)).toBe(true)
        expect(bodyBytes(aBlock.body)).toBe(BodyType.serialize(aBlock.body).length)
        expect(bodyRoot(aBlock.body)).toEqual(rootByHand(aBlock.body))
        expect(blockHash(aHeader)).toEqual(UnsignedHeaderType.hashTreeRoot(aHeader))
        expect(BlockType.equals(decodeBlock(encodeBlock(aBlock))!, aBlock)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('property: bytes that decode at all are the only spelling of their value', () => {
    const change = fc.tuple(fc.nat(), u8, fc.constantFrom('set', 'cut', 'add'))
    fc.assert(
      fc.property(block, change, (value, [at, byte, how]) => {
        const whole = encodeBlock(value)
        const changed = how === 'cut' ? whole.slice(0, at % whole.length) : Uint8Array.of(...whole, byte)
        if (how === 'set') {
          changed.set(whole)
          changed[at % whole.length] = byte
        }
        const read = decodeBlock(changed)
        if (read !== null) expect(encodeBlock(read)).toEqual(changed)
        // The library, slower, says the same.
        expect(read === null).toBe(decodeExactly(BlockType, changed) === null)
      }),
      { numRuns: 400 },
    )
  })

  test('property: offsets that are a little off are judged as the library judges them', () => {
    const [header, firstTx] = [281, 293]
    fc.assert(
      fc.property(block, fc.nat(), fc.integer({ min: -36, max: 70 }), (value, which, delta) => {
        const bytes = encodeBlock(value)
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
        const tx = value.body.txs.length === 0 ? 0 : firstTx + view.getUint32(firstTx, true)
        const inTxs = tx === 0 ? [] : [firstTx, tx - 4, tx + 57, tx + 61, tx + 129]
        const places = [header, header + 4, header + 8, ...inTxs]
        const at = places[which % places.length]!
        view.setUint32(at, Math.max(0, view.getUint32(at, true) + delta), true)
        expect(decodeBlock(bytes) === null).toBe(decodeExactly(BlockType, bytes) === null)
      }),
      { numRuns: 1_000 },
    )
  })

  test('property: any bytes are refused or read, never thrown at', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (any) => {
        for (const read of [decodeBlock(any), decodeTx(any)])
          expect(read === null || typeof read === 'object').toBe(true)
      }),
    )
    expect(decodeBlock(new Uint8Array((1 << 20) + 2_000))).toBeNull()
    expect(decodeTx(new Uint8Array(131_073))).toBeNull()
  })
})
