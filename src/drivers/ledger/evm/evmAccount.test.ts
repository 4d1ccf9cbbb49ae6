import fc from 'fast-check'
import { encodeFunctionData, getContractAddress, keccak256, parseTransaction, recoverTransactionAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import built from '../../../../contracts/built/TouchstoneRounds.json' with { type: 'json' }
import { madeUpRound } from '../../../../test/support/madeUpRounds.ts'
import { proveScore } from '../../../core/ledger/roundRecord.ts'
import { evmAccount, hexOf } from './evmAccount.ts'
import { isPublishedCall, publishCall, rootOfCall } from './roundsContract.ts'

type Hex = `0x${string}`

const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((bytes) => bytes[0]! > 0 && bytes[0]! < 255)
const transactions = fc.record({
  chainId: fc.bigInt({ min: 1n, max: 2n ** 40n }),
  nonce: fc.bigInt({ min: 0n, max: 2n ** 40n }),
  maxPriorityFee: fc.bigInt({ min: 0n, max: 2n ** 40n }),
  maxFee: fc.bigInt({ min: 2n ** 40n, max: 2n ** 64n }),
  gas: fc.bigInt({ min: 21_000n, max: 2n ** 40n }),
  to: fc.option(fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hexOf)),
  data: fc.uint8Array({ maxLength: 300 }).map(hexOf),
})

test('property: another library makes the same bytes of every transaction, and reads them back to their account', async () => {
  await fc.assert(
    fc.asyncProperty(secrets, transactions, async (secret, transaction) => {
      const account = evmAccount(secret)
      const { raw, hash } = account.sign(transaction)
      const { maxFee, maxPriorityFee, nonce, chainId, to, data, ...rest } = transaction
      const fees = { maxFeePerGas: maxFee, maxPriorityFeePerGas: maxPriorityFee }
      const theirs = await privateKeyToAccount(hexOf(secret) as Hex).signTransaction({
        ...{ ...rest, ...fees, type: 'eip1559', nonce: Number(nonce), chainId: Number(chainId) },
        ...{ to: to as Hex | null, data: data as Hex },
      })
      expect(raw).toBe(theirs)
      expect(hash).toBe(keccak256(raw as Hex))
      const from = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })
      expect(from.toLowerCase()).toBe(account.address)
      expect(parseTransaction(raw as Hex).chainId).toBe(Number(chainId))
      expect(account.contractAt(nonce)).toBe(getContractAddress({ from, nonce }).toLowerCase())
    }),
    { numRuns: 15 },
  )
})

test('property: another library makes the same calls of the contract', () => {
  const { address } = evmAccount(new Uint8Array(32).fill(3))
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.nat({ max: 2 ** 31 }), fc.nat(), (boxes, round, pick) => {
      const record = madeUpRound(round + 1, boxes)
      const proof = proveScore(record, record.entries[pick % boxes]!.box)!
      const { entry } = proof
      const encode = (functionName: string, args: readonly unknown[]) =>
        encodeFunctionData({ abi: built.abi, functionName, args })
      const hash = (hex: string | null) => `0x${hex ?? '00'.repeat(32)}`
      expect(publishCall(record.round, record.root)).toBe(encode('publish', [BigInt(record.round), hash(record.root)]))
      expect(rootOfCall(address, record.round)).toBe(encode('rootOf', [address, BigInt(record.round)]))
      const score = {
        ...{ validator: hash(record.validator), round: BigInt(record.round), score: BigInt(entry.score) },
        ...{ box: hexOf(Buffer.from(entry.box)), certificate: hash(entry.certificate) },
      }
      const path = proof.path.map(hash)
      expect(isPublishedCall(address, proof)).toBe(encode('isPublished', [address, score, BigInt(proof.place), path]))
    }),
    { numRuns: 15 },
  )
})
