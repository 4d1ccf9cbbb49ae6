import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes } from '../../../core/bytes/bytes.ts'
import { fromHex, toHex } from '../../../core/bytes/hex.ts'

/** A transaction of the kind that EIP-1559 describes, without an access list and without value. */
export interface EvmTransaction {
  readonly chainId: bigint
  readonly nonce: bigint
  readonly maxPriorityFee: bigint
  readonly maxFee: bigint
  readonly gas: bigint
  /** Null makes a contract of the data. */
  readonly to: string | null
  /** As 0x and hex digits, like every text of an EVM node. */
  readonly data: string
}

/** An account of an EVM chain. The secret never leaves the closure. */
export interface EvmAccount {
  /** In lower case. */
  readonly address: string
  sign(transaction: EvmTransaction): { readonly raw: string; readonly hash: string }
  /** Where a contract will be that this account makes with this nonce. */
  contractAt(nonce: bigint): string
}

export const bytesOf = (hex: string): Uint8Array => fromHex(hex.slice(2), (hex.length - 2) / 2)!
export const hexOf = (bytes: Uint8Array): string => `0x${toHex(bytes)}`

export function evmAccount(secret: Uint8Array): EvmAccount {
  // The point without the byte that says how it is written.
  const point = secp256k1.getPublicKey(secret, false).subarray(1)
  const address = keccak_256(point).subarray(12)
  return {
    address: hexOf(address),
    contractAt: (nonce) => hexOf(keccak_256(rlpList([rlpBytes(address), rlpNumber(nonce)])).subarray(12)),
    sign: (transaction) => {
      const fields = fieldsOf(transaction)
      const digest = keccak_256(concatBytes(TYPE, rlpList(fields)))
      const signature = secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' })
      const [parity, r, s] = [signature.subarray(0, 1), signature.subarray(1, 33), signature.subarray(33)]
      const raw = concatBytes(TYPE, rlpList([...fields, ...[parity, r, s].map((part) => rlpBytes(trimmed(part)))]))
      return { raw: hexOf(raw), hash: hexOf(keccak_256(raw)) }
    },
  }
}

const TYPE = Uint8Array.of(2)

function fieldsOf(tx: EvmTransaction): readonly Uint8Array[] {
  const numbers = [tx.chainId, tx.nonce, tx.maxPriorityFee, tx.maxFee, tx.gas].map(rlpNumber)
  const [value, accessList] = [rlpNumber(0n), rlpList([])]
  return [
    ...numbers,
    rlpBytes(tx.to === null ? new Uint8Array(0) : bytesOf(tx.to)),
    value,
    rlpBytes(bytesOf(tx.data)),
    accessList,
  ]
}

/** The shortest spelling: a number has no leading zeros, and 0 no bytes. */
const trimmed = (bytes: Uint8Array): Uint8Array => {
  const first = bytes.findIndex((byte) => byte !== 0)
  return first === -1 ? new Uint8Array(0) : bytes.subarray(first)
}

const numberBytes = (value: bigint): Uint8Array => {
  const hex = value.toString(16)
  return trimmed(fromHex(hex.length % 2 === 0 ? hex : `0${hex}`, Math.ceil(hex.length / 2))!)
}

const rlpNumber = (value: bigint): Uint8Array => rlpBytes(numberBytes(value))

const rlpBytes = (bytes: Uint8Array): Uint8Array =>
  bytes.length === 1 && bytes[0]! < 0x80 ? bytes : concatBytes(rlpLength(0x80, bytes.length), bytes)

const rlpList = (items: readonly Uint8Array[]): Uint8Array => {
  const content = concatBytes(...items)
  return concatBytes(rlpLength(0xc0, content.length), content)
}

function rlpLength(base: number, length: number): Uint8Array {
  if (length < 56) return Uint8Array.of(base + length)
  const bytes = numberBytes(BigInt(length))
  return Uint8Array.of(base + 55 + bytes.length, ...bytes)
}
