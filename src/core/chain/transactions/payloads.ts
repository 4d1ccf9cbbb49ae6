import { ContainerType } from '@chainsafe/ssz'
import { Bytes32, Bytes80, U8, U64 } from '../ssz.ts'

/** The payload of each kind of transaction (§3.9). */
export const TransferType = new ContainerType({ to: Bytes32, amount: U64 })
export const VrfKeyType = new ContainerType({ key: Bytes32, proof: Bytes80 })
/** purpose: 0 bond, 1 stake, 2 deposit, 3 project. */
export const LockType = new ContainerType({ purpose: U8, amount: U64 })
