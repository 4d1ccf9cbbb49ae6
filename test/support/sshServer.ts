import { type ChildProcess, spawn } from 'node:child_process'
import type { AddressInfo, Socket } from 'node:net'
import net from 'node:net'
import type { AuthContext, AuthenticationType, Connection, ServerChannel, Session } from 'ssh2'
import ssh2 from 'ssh2'
import { serveSftp } from './sftpFolder.ts'

/** An SSH server to test against, whichever program it is. */
export interface TestSshServer {
  readonly user: string
  readonly port: number
  /** Cuts every connection without a goodbye. */
  cut(): void
  close(): Promise<void>
}

export interface SshServerOptions {
  readonly home: string
  readonly user: string
  readonly password?: string
  /** In authorized_keys form. */
  readonly authorizedKey?: string
  readonly hostKey: string | readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** What a talkative login shell would print before each command, on both streams. */
  readonly chatter?: string
  /** What it tells everybody before the login. */
  readonly banner?: string
  readonly failWrites?: boolean
  /** Told how many files are open for SFTP, whenever that changes. */
  readonly onOpenFiles?: (count: number) => void
  readonly noSftp?: boolean
  /** Never agrees that its SFTP channel is closed. */
  readonly keepsSftp?: boolean
  /** A server that breaks the flow control of the protocol. */
  readonly ignoreWindow?: boolean
  /** Lets everybody in who may, and hangs up at once. */
  readonly dropAfterLogin?: boolean
  /** Answers no question after the login. */
  readonly silent?: boolean
  /** Told how many bytes of commands' output have been handed to the connection. */
  readonly onOutput?: (totalBytes: number) => void
}

/** An SSH server inside this process that runs real commands in a home of its own. */
export async function startSshServer(options: SshServerOptions): Promise<TestSshServer> {
  const sockets = new Set<Socket>()
  const children = new Set<ChildProcess>()
  const words = options.banner === undefined ? {} : { banner: options.banner }
  const server = new ssh2.Server({ hostKeys: [options.hostKey].flat(), ...words }, (client) =>
    serveClient(client, options, children),
  )
  // Sockets come in through a listener of ours, so that a test can cut them.
  const listener = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    server.injectSocket(socket)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    user: options.user,
    port: (listener.address() as AddressInfo).port,
    cut,
    close: async () => {
      cut()
      await new Promise((resolve) => listener.close(resolve))
      for (const child of children) killGroup(child, 'SIGKILL')
    },
  }
}

function serveClient(client: Connection, options: SshServerOptions, children: Set<ChildProcess>): void {
  client.on('error', () => {})
  const takes: AuthenticationType[] = [
    ...(options.password === undefined ? [] : ['password' as const]),
    ...(options.authorizedKey === undefined ? [] : ['publickey' as const]),
  ]
  client.on('authentication', (context) => (isAllowed(context, options) ? context.accept() : context.reject(takes)))
  if (options.dropAfterLogin) client.on('ready', () => client.end())
  if (options.silent) client.on('session', () => {})
  else client.on('session', (accept) => serveSession(accept(), options, children))
}

function isAllowed(context: AuthContext, options: SshServerOptions): boolean {
  if (context.username !== options.user) return false
  if (context.method === 'password') return context.password === options.password
  if (context.method !== 'publickey' || options.authorizedKey === undefined) return false
  const key = ssh2.utils.parseKey(options.authorizedKey)
  if (key instanceof Error || !key.getPublicSSH().equals(context.key.data)) return false
  if (context.signature === undefined) return true
  return key.verify(context.blob!, context.signature, context.hashAlgo)
}

function serveSession(session: Session, options: SshServerOptions, children: Set<ChildProcess>): void {
  if (!options.noSftp)
    session.on('sftp', (accept) => {
      const sftp = accept()
      if (options.keepsSftp) keepOpen(sftp as never)
      serveSftp(sftp, options)
    })
  session.on('exec', (accept, _reject, info) => {
    const channel = accept()
    const child = spawn('/bin/sh', ['-c', info.command], {
      cwd: '/',
      env: { HOME: options.home, PATH: process.env.PATH ?? '', ...options.env },
      detached: true,
    })
    children.add(child)
    child.once('exit', () => children.delete(child))
    connectStreams(channel, child, options)
    session.on('signal', (acceptSignal, _rejectSignal, { name }) => {
      acceptSignal?.()
      killGroup(child, `SIG${name}`)
    })
  })
}

/** What the library does not offer: a channel whose end is not confirmed. */
function keepOpen(channel: {
  readonly _protocol: { channelClose(id: number): void }
  readonly outgoing: { readonly id: number }
}): void {
  const { _protocol, outgoing } = channel
  const close = _protocol.channelClose.bind(_protocol)
  _protocol.channelClose = (id) => {
    if (id !== outgoing.id) close(id)
  }
}

function connectStreams(channel: ServerChannel, child: ChildProcess, options: SshServerOptions): void {
  if (options.ignoreWindow) (channel.outgoing as { window: number }).window = Number.MAX_SAFE_INTEGER
  if (options.chatter !== undefined) {
    channel.write(options.chatter)
    channel.stderr.write(options.chatter)
  }
  let total = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    total += chunk.length
    options.onOutput?.(total)
    // One byte more each time: the client's library drops what comes at a window of exactly zero, and must not get there.
    if (options.ignoreWindow && chunk.length > 8192) {
      channel.write(Buffer.concat([chunk, Buffer.of(0)]))
      return
    }
    if (!channel.write(chunk)) {
      child.stdout?.pause()
      channel.once('drain', () => child.stdout?.resume())
    }
  })
  child.stderr?.on('data', (chunk: Buffer) => channel.stderr.write(chunk))
  child.stdin?.on('error', () => {})
  channel.on('data', (chunk: Buffer) => child.stdin?.write(chunk))
  // As sshd does: the end of the channel is the end of input, and no signal.
  channel.on('end', () => child.stdin?.end())
  channel.on('close', () => {
    child.stdin?.end()
    child.stdout?.destroy()
  })
  child.once('close', (code) => {
    channel.exit(code ?? 255)
    channel.end()
  })
}

function killGroup(child: ChildProcess, signal: string): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal as NodeJS.Signals)
  } catch {
    // Already gone.
  }
}
