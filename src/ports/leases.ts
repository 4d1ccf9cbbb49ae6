import type { Lease, LeaseBook } from '../core/lease/leaseBook.ts'
import type { AccessDetails } from '../core/lease/leaseMessages.ts'
import type { SshPublicKey } from '../core/lease/sshPublicKey.ts'

/** Lets one key into this box for a while. */
export interface BoxAccess {
  /**
   * Opens access for the lease's key and nobody else, and sees to it that it ends with the lease even if we are gone. Fails with
   * `STILL_CLEARING` where what another lease left is in the way, for as long as that is being removed.
   */
  open(lease: Lease, signal: AbortSignal): Promise<AccessDetails>
  /** Ends sessions and takes the key away. Safe to call twice, and for a lease that was never opened. */
  close(id: string): Promise<void>
}

/** What must survive a crash. */
export interface LeaseJournal {
  read(): Promise<LeaseBook>
  /** Resolves when the book is on disk: access is opened only afterwards. */
  write(book: LeaseBook): Promise<void>
}

/** Makes bytes that only the holder of the key can read. */
export type SealToKey = (key: SshPublicKey, plain: Uint8Array) => Uint8Array

/** A channel of messages to somebody, whoever dialled. */
export interface MessageChannel {
  send(message: Uint8Array): Promise<void>
  /** Each as long as was sent, within the limit of the protocol; ends when the channel does. */
  readonly messages: AsyncIterable<Uint8Array>
  close(): void
}

/** The place of somebody at a door that strangers crowd. */
export interface Seat {
  /** Whether its next word is listened to: strangers of one network have so many. */
  maySpeak(): boolean
  /** It has said something to the purpose. */
  heard(): void
  /** That was signed by a key we know: from now on no stranger can push it out. */
  known(key: string): void
}
