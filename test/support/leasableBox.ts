import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseService, serveLine } from '../../src/apps/provider/leaseService.ts'
import { signerFrom } from '../../src/core/bytes/ed25519.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import type { LeaseBook } from '../../src/core/lease/leaseBook.ts'
import type { SharedAccountOptions } from '../../src/drivers/lease/sharedAccount.ts'
import type { ProviderLine } from '../../src/drivers/remote/leased/askProvider.ts'
import type { LeasedOptions } from '../../src/drivers/remote/leased/connectLeased.ts'
import { fingerprintOf } from '../../src/drivers/remote/ssh/knownHosts.ts'
import { sealToKey } from '../../src/drivers/system/sealToKey.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { dialWs, listenWs, MESSAGES, wsChannel } from '../../src/drivers/system/wsChannel.ts'
import type { BoxAccess } from '../../src/ports/leases.ts'
import { keyPair } from './keyPair.ts'
import { makeRelease } from './makeRelease.ts'
import { startOpenSsh } from './openSshServer.ts'
import type { TestSshServer } from './sshServer.ts'

const [giver, taker] = [signerFrom(new Uint8Array(32).fill(1)), signerFrom(new Uint8Array(32).fill(2))]
export const [giverKey, takerKey] = [toHex(giver.publicKey), toHex(taker.publicKey)]

/** A box with a real OpenSSH server: what a provider needs to open access to it, and what a validator asks it with. */
export interface LeasableBox {
  readonly server: TestSshServer
  readonly shared: SharedAccountOptions
  readonly options: LeasedOptions
}

export async function leasableBox(folder: string, prover = 'exec cat\n'): Promise<LeasableBox> {
  mkdirSync(join(folder, 'home'), { recursive: true })
  const host = keyPair()
  const server = await startOpenSsh({
    folder: join(folder, 'server'),
    home: join(folder, 'home'),
    hostKey: host.private,
    authorizedKeys: '',
  })
  const shared = {
    stateFolder: join(folder, 'leases'),
    host: '127.0.0.1',
    port: server.port,
    hostKey: fingerprintOf(Buffer.from(host.public.split(' ')[1]!, 'base64')),
    user: server.user,
    authorizedKeysFile: join(folder, 'server', 'authorized_keys'),
  }
  const release = makeRelease(join(folder, 'release'), { files: { 'p.sh': prover }, command: ['sh', 'p.sh'] })
  const options: LeasedOptions = {
    purpose: 'verify',
    seconds: 60,
    signer: taker,
    clock: systemClock,
    randomness: systemRandomness,
    ssh: {
      knownHostsFiles: [],
      ownKnownHostsFile: join(folder, 'known_hosts'),
      onFirstUse: () => false,
      flavours: [{ directory: release, machine: 'any', carriesNode: false }],
      keep: false,
    },
  }
  return { server, shared, options }
}

/** A provider with a journal in memory; it lets everybody in unless told otherwise. */
export function serviceOf(access: BoxAccess, isAllowed = () => true): LeaseService {
  let book: LeaseBook = { leases: [] }
  const journal = {
    read: async () => book,
    write: async (next: LeaseBook) => {
      book = next
    },
  }
  const deps = { signer: giver, clock: systemClock, journal, access, seal: sealToKey, tell: () => {} }
  return new LeaseService({ ...deps, isAllowed, isNamed: () => true })
}

/** That provider behind a WebSocket, and as many validators at its door as are asked for. */
export async function listening(access: BoxAccess, signal: AbortSignal, isAllowed = () => true) {
  const service = serviceOf(access, isAllowed)
  const listener = await listenWs({ host: '127.0.0.1', port: 0 }, (socket) => {
    void serveLine(service, wsChannel(socket), signal)
  })
  const url = `ws://127.0.0.1:${listener.port}`
  const dial = async (): Promise<ProviderLine> => ({
    channel: wsChannel(await dialWs(url, MESSAGES, signal)),
    key: giverKey,
    reached: '127.0.0.1',
  })
  return { service, port: listener.port, dial, close: () => listener.close() }
}
