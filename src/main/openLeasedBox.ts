import { join } from 'node:path'
import type { Signer } from '../core/bytes/ed25519.ts'
import { connectLeased } from '../drivers/remote/leased/connectLeased.ts'
import { releaseFlavours } from '../drivers/remote/releaseFlavours.ts'
import { homeFolder } from '../drivers/system/homeFolder.ts'
import { systemClock } from '../drivers/system/systemClock.ts'
import { systemRandomness } from '../drivers/system/systemRandomness.ts'
import { dialWs, MESSAGES, wsChannel } from '../drivers/system/wsChannel.ts'
import { TouchstoneError } from '../ports/errors.ts'
import type { RemoteBox } from '../ports/remoteBox.ts'

export interface LeaseTarget {
  /** `lease://host:port#key`, the key being the provider's. */
  readonly address: string
  readonly signer: Signer
  readonly proverArguments: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** Longest a verification may take; the lease is given back as soon as it is done. */
const LEASE_SECONDS = 600
const FORM = /^lease:\/\/((?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\]):[0-9]{1,5})#([0-9a-f]{64})$/

/** A provider's box: asks it for a lease, and logs in with a key made for that lease alone. */
export async function openLeasedBox(target: LeaseTarget, signal: AbortSignal): Promise<RemoteBox> {
  const match = FORM.exec(target.address)
  if (match === null) throw badTarget(target.address)
  const channel = wsChannel(await dialWs(`ws://${match[1]}`, MESSAGES, signal))
  const options = {
    purpose: 'verify' as const,
    seconds: LEASE_SECONDS,
    signer: target.signer,
    clock: systemClock,
    randomness: systemRandomness,
    ssh: {
      knownHostsFiles: [],
      ownKnownHostsFile: join(homeFolder(target.env), 'known_hosts'),
      onFirstUse: () => false,
      flavours: await releaseFlavours(),
      keep: false,
      proverArguments: target.proverArguments,
    },
  }
  try {
    return closing(await connectLeased({ channel, key: match[2]! }, options, signal), () => channel.close())
  } catch (error) {
    channel.close()
    throw error
  }
}

const closing = (box: RemoteBox, after: () => void): RemoteBox => ({
  address: box.address,
  get access() {
    return box.access
  },
  install: (signal) => box.install(signal),
  start: (signal) => box.start(signal),
  close: () => box.close().finally(after),
})

const badTarget = (text: string): TouchstoneError =>
  new TouchstoneError(
    { code: 'BAD_ADDRESS' },
    {
      message: `${JSON.stringify(text.slice(0, 200))} is no address of a provider`,
      blame: 'user',
      retry: false,
      nextStep: 'Write it as lease://host:port#key, with the key that "touchstone provider" shows.',
    },
  )
