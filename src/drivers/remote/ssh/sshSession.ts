import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { setImmediate as heardAll } from 'node:timers/promises'
import type {
  AnyAuthMethod,
  AuthHandlerMiddleware,
  ClientChannel,
  KexAlgorithm,
  ServerHostKeyAlgorithm,
  SFTPWrapper,
} from 'ssh2'
import ssh2 from 'ssh2'
import { boxWords } from '../../../core/bytes/boxWords.ts'
import { lastWords, printable } from '../../../core/bytes/printable.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import { inTime } from '../../system/inTime.ts'
import { cameUsOf, dialStamped } from '../../system/stampedSocket.ts'
import type { Destination } from '../../system/stampMessages.ts'
import { fault } from '../faults.ts'
import { connectFault, type SshError, unreachable } from './connectFault.ts'
import { countPackets } from './countPackets.ts'
import {
  FAMILIES,
  type HostTrustOptions,
  isCostly,
  isTrusted,
  keyTypesFor,
  knownPlace,
  rememberFirstKey,
  type Trust,
} from './hostTrust.ts'
import { fingerprintOf, type HostKeyLine, readKnownHosts } from './knownHosts.ts'
import { quoteForShell } from './quoteForShell.ts'
import { formatSshAddress, type SshAddress } from './sshAddress.ts'
import { type AskHidden, type AuthPlan, planAuth, type SshAuth } from './sshAuth.ts'

export interface SessionOptions extends HostTrustOptions {
  readonly auth: SshAuth
  /** Read, never written: usually `~/.ssh/known_hosts`. */
  readonly knownHostsFiles: readonly string[]
  /** The numeric address to dial, where the name was looked up and judged before: it may lead elsewhere the next time. */
  readonly at?: string
  readonly onlyIpVersion?: 4 | 6 | null
  readonly connectLimitMs?: number
  /** What led us there, where that was not whoever reads the fault. */
  readonly ledBy?: string
  /** Another way to the server than TCP: the tunnel of a provider behind NAT. */
  readonly dial?: (signal: AbortSignal) => Promise<Duplex>
}

export interface SshSession {
  readonly address: string
  readonly hostKey: {
    readonly fingerprint: string
    readonly trust: 'pinned' | 'known' | 'first use'
    /** The whole key, as known_hosts has it. */
    readonly blob: Buffer
  }
  /** Arguments are quoted here and nowhere else. */
  exec(argv: readonly string[], during: string, signal: AbortSignal): Promise<ClientChannel>
  sftp(during: string, signal: AbortSignal): Promise<SFTPWrapper>
  /** A connection from there to another place. */
  forward(host: string, port: number, signal: AbortSignal): Promise<Duplex>
  /** The promise, or the fault that came first: connection gone, time up, caller gone. */
  within<T>(promise: Promise<T>, during: string, signal: AbortSignal, limitMs?: number): Promise<T>
  readonly isLost: () => boolean
  /** Asked when something ended by itself: throws where it was the connection that did, which is told a moment later. */
  expectLine(during: string): Promise<void>
  /** Settles when the connection is gone, for whatever reason. */
  readonly gone: Promise<void>
  /** When what comes out of it now had come in. */
  readonly cameUs: () => number
  close(): void
  /** Drops the connection without a word: the other side breaks the protocol. */
  abort(): void
}

const CONNECT_LIMIT_MS = 15_000
const COMMAND_LIMIT_MS = 30_000
/**
 * Without those in which the server chooses a group: 10,000 bits of its own took the thread by whose clock all other boxes
 * are measured 0.45 s, as often as it liked (attack 258). Nor is anything inflated for it. Nor larger curves and groups,
 * which take milliseconds (attack 439): who has those has one of these.
 */
const KEY_EXCHANGES: readonly KexAlgorithm[] = [
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'ecdh-sha2-nistp256',
  'diffie-hellman-group14-sha256',
]
/** A silent connection is called lost after three of these. */
const KEEP_ALIVE_MS = 5_000
/**
 * A fingerprint given by hand may be of any of the server's keys, and does not say of which; so with a pin each family is
 * asked for in turn. Nothing but the pinned key is ever accepted.
 */
export async function openSession(to: SshAddress, options: SessionOptions, signal: AbortSignal): Promise<SshSession> {
  signal.throwIfAborted()
  const files = [options.ownKnownHostsFile, ...options.knownHostsFiles]
  const known = await readKnownHosts(files, knownPlace(to, options))
  if (options.hostKey === undefined) return attempt(to, options, known, keyTypesFor(known), signal)
  let first: unknown = null
  for (const types of FAMILIES) {
    try {
      return await attempt(to, options, known, types, signal)
    } catch (error) {
      if (!fault.is(error, 'HOST_KEY_CHANGED', 'SSH_NO_COMMON_KEY')) throw error
      // That the server has no key of some family says less than that it has another key.
      if (first === null || fault.is(error, 'HOST_KEY_CHANGED')) first = error
    }
  }
  throw first
}

async function attempt(
  to: SshAddress,
  options: SessionOptions,
  known: readonly HostKeyLine[],
  types: readonly ServerHostKeyAlgorithm[],
  signal: AbortSignal,
): Promise<SshSession> {
  const address = `${formatSshAddress(to)}${options.ledBy === undefined ? '' : `, where ${options.ledBy} led,`}`
  const limitMs = options.connectLimitMs ?? CONNECT_LIMIT_MS
  const timer = startTimer(limitMs, () => fault('BOX_TIMEOUT', { address, during: 'connecting', limitMs }))
  const { ask } = options.auth
  const auth = ask ? { ...options.auth, ask: timer.paused(ask) } : options.auth
  const trust: Trust = { judgement: null, accepted: false, blob: null }
  const client = new ssh2.Client()
  // Before anything is waited for: a server may hang up at any moment, and 'close' comes once.
  const line = watchLine(client)
  const over = new AbortController()
  let plan: AuthPlan | null = null
  let sock: Duplex | undefined
  try {
    plan = await planAuth(to.user, auth, signal)
    // A hop on the way has its own time, and so has a tunnel.
    timer.stop()
    sock = await options.dial?.(signal)
    timer.restart()
    const either = AbortSignal.any([signal, over.signal])
    sock ??= await Promise.race([dialStamped(placeOf(to, options), either), timer.late])
    const offer = offerTo(plan)
    client.connect({
      username: to.user,
      // Ours instead, because it stands still while somebody types a password.
      readyTimeout: 0,
      keepaliveInterval: KEEP_ALIVE_MS,
      keepaliveCountMax: 3,
      algorithms: { kex: [...KEY_EXCHANGES], compress: ['none'], serverHostKey: [...types] },
      authHandler: offer.handler,
      debug: countPackets(line.drop, () => performance.now()),
      hostVerifier: (blob: Buffer, verify: (valid: boolean) => void) => {
        // Thrown: after a mere no the library reads on, and checks the signature of what came with the key.
        if (isCostly(blob)) throw fault('HOST_KEY_COSTLY', { address, got: fingerprintOf(blob) })
        void isTrusted(to, blob, known, options, trust).then(verify, () => verify(false))
      },
      sock,
    })
    const closed = line.cut(() => unreachable(address, 'it closed the connection during the handshake', line.said()))
    await Promise.race([once(client, 'ready', { signal: either }), closed, offer.failed, timer.late])
    rememberFirstKey(to, options, trust)
    signal.throwIfAborted()
  } catch (error) {
    line.drop()
    sock?.destroy()
    signal.throwIfAborted()
    throw error instanceof TouchstoneError
      ? error
      : connectFault(address, options, plan, trust, line.said(), error as SshError)
  } finally {
    timer.stop()
    // Nobody waits any more, and nobody listens to the caller's signal.
    over.abort()
  }
  return sessionOf(client, line, formatSshAddress(to), trust, cameUsOf(sock))
}

const placeOf = (to: SshAddress, { at, onlyIpVersion }: SessionOptions): Destination => ({
  host: at ?? to.host,
  port: to.port,
  ...(onlyIpVersion ? { family: onlyIpVersion } : {}),
})

/** Rejects when the time is up; stands still while somebody is asked. */
function startTimer(limitMs: number, why: () => TouchstoneError) {
  let end = (): void => {}
  const late = new Promise<never>((_, reject) => {
    end = () => reject(why())
  })
  late.catch(() => {})
  let timer = setTimeout(end, limitMs)
  const stop = () => clearTimeout(timer)
  const restart = () => {
    stop()
    timer = setTimeout(end, limitMs)
  }
  const paused =
    (ask: AskHidden): AskHidden =>
    async (...question) => {
      stop()
      try {
        return await ask(...question)
      } finally {
        restart()
      }
    }
  return { late, stop, restart, paused }
}

/** The plan as the library asks for it; what goes wrong in it ends the login. */
function offerTo(plan: AuthPlan) {
  let fail = (_: unknown): void => {}
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  failed.catch(() => {})
  // The library takes `false` for the end, which its types do not say.
  const handler = (offered: readonly string[] | null, _: boolean, next: (method: AnyAuthMethod | false) => void) => {
    plan.next(offered).then((method) => next(method ?? false), fail)
  }
  return { failed, handler: handler as AuthHandlerMiddleware }
}

/** Whether the connection still stands, told from its first moment on. */
function watchLine(client: ssh2.Client) {
  let lost = false
  let end = (): void => {}
  const gone = new Promise<void>((resolve) => {
    end = () => {
      lost = true
      resolve()
    }
  })
  /** Nobody waits for the other side to agree. */
  const drop = (): void => {
    client.destroy()
    end()
  }
  let words = ''
  const hear = (text: string): void => {
    words = `${words} ${text.slice(0, MOST_WORDS)}`.slice(-MOST_WORDS)
  }
  client.on('greeting', hear)
  client.on('banner', hear)
  client.on('error', (error: SshError) => {
    // A number is what the server gave as its reason to disconnect, and the text is its own.
    if (typeof error.code === 'number') hear(error.message)
  })
  client.once('close', end)
  // A tunnel, or the stream of a jump, may stay half open: nothing more comes, and no 'close' either (attack 504).
  client.once('end', drop)
  // Whatever breaks ends the connection, which is what we act on.
  client.on('error', drop)
  /** Rejects when the connection is gone, after whatever came with its end was heard. */
  const cut = async (why: () => TouchstoneError): Promise<never> => {
    await gone
    await heardAll()
    throw why()
  }
  return { gone, isLost: () => lost, cut, drop, said: () => lastWords(words, MOST_WORDS) }
}

/** Enough for a sentence, whatever a server sends. */
const MOST_WORDS = 300

function sessionOf(
  client: ssh2.Client,
  { gone, isLost, cut, drop }: ReturnType<typeof watchLine>,
  address: string,
  trust: Trust,
  cameUs: () => number,
): SshSession {
  const lost = (during: string, cause?: unknown) => fault('BOX_CONNECTION_LOST', { address, during }, cause)
  const within: SshSession['within'] = (promise, during, signal, limitMs = COMMAND_LIMIT_MS) => {
    const late = () => {
      throw fault('BOX_TIMEOUT', { address, during, limitMs })
    }
    return inTime(Promise.race([promise, cut(() => lost(during))]), limitMs, late, signal)
  }
  type Ask<T> = (done: (error: Error | undefined, got: T) => void) => void
  const asked = async <T>(during: string, signal: AbortSignal, ask: Ask<T>): Promise<T> => {
    signal.throwIfAborted()
    const refused = (error: Error) =>
      fault('BOX_REFUSED', { address, during, words: boxWords(printable(error.message)) }, error)
    const answer = new Promise<T>((resolve, reject) => {
      try {
        ask((error, got) => (error ? reject(isLost() ? lost(during, error) : refused(error)) : resolve(got)))
      } catch (error) {
        // The library asks nothing of a connection that has ended.
        reject(lost(during, error))
      }
    })
    return within(answer, during, signal)
  }
  const by = trust.judgement?.kind === 'trusted' ? trust.judgement.by : null
  return {
    address,
    hostKey: {
      fingerprint: trust.judgement!.fingerprint,
      trust: by === 'pin' ? 'pinned' : by === 'known_hosts' ? 'known' : 'first use',
      blob: trust.blob!,
    },
    exec: async (argv, during, signal) => {
      const command = quoteForShell(argv)
      return asked<ClientChannel>(during, signal, (done) => client.exec(command, done))
    },
    sftp: (during, signal) => asked<SFTPWrapper>(during, signal, (done) => client.sftp(done)),
    forward: (host, port, signal) =>
      asked<Duplex>(`jumping to ${host}`, signal, (done) => client.forwardOut('127.0.0.1', 0, host, port, done)),
    within,
    isLost,
    expectLine: async (during) => {
      await heardAll()
      if (isLost()) throw lost(during)
    },
    gone,
    cameUs,
    close: () => client.end(),
    abort: drop,
  }
}
