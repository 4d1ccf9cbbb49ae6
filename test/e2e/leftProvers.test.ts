import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import net, { type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type VerifyDeps, verifyBox } from '../../src/apps/validator/verifyBox.ts'
import { connectSsh } from '../../src/drivers/remote/ssh/connectSsh.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { eventually } from '../support/eventually.ts'
import { inlineChecker } from '../support/inlineChecker.ts'
import { keyPair } from '../support/keyPair.ts'
import { canBeFirst, startOpenSsh, whyNoOpenSsh } from '../support/openSshServer.ts'
import { skipWith } from '../support/skipWith.ts'
import { testEngine } from '../support/testEngine.ts'
import { TINY, VALIDATOR } from '../support/verifyInProcess.ts'

/**
 * Forwards bytes, each so much later, until it is told to hang up or its caller does, and then keeps the far side: nobody
 * there hears of it, nor of what was said last.
 */
async function startHoldingForwarder(target: number, laterMs = 0) {
  const [near, far] = [new Set<Socket>(), new Set<Socket>()]
  const listener = net.createServer({ noDelay: true }, (caller) => {
    const there = net.connect({ port: target, host: '127.0.0.1', noDelay: true })
    near.add(caller)
    far.add(there)
    there.once('close', () => far.delete(there))
    for (const socket of [caller, there]) socket.on('error', () => {})
    let isOver = false
    for (const end of ['end', 'close']) caller.once(end, () => (isOver = true))
    const pass = (chunk: Buffer) => void (isOver || there.write(chunk))
    caller.on('data', (chunk) => (laterMs > 0 ? setTimeout(pass, laterMs, chunk) : there.write(chunk)))
    there.on('data', (chunk) => void (caller.destroyed || caller.write(chunk)))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    hangUp: () => {
      for (const caller of near) caller.destroy()
    },
    held: () => far.size,
    close: async () => {
      for (const socket of [...near, ...far]) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

const greetingOf = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('data', (chunk) => {
      resolve(String(chunk))
      socket.destroy()
    })
    socket.once('error', (error) => resolve(String(error)))
  })

const missing = whyNoOpenSsh()
if (missing !== null) skipWith('attack 470: what a forwarder leaves on the machine of another', missing)

const SILENCE_S = 2
const root = mkdtempSync(join(tmpdir(), 'touchstone-left-'))
const home = join(root, 'home')
const [host, user] = [keyPair(), keyPair()]
let server: Awaited<ReturnType<typeof startOpenSsh>>

beforeAll(async () => {
  mkdirSync(home)
  if (missing === null)
    server = await startOpenSsh({
      folder: join(root, 'sshd'),
      home,
      hostKey: host.private,
      authorizedKeys: user.public,
    })
})
afterAll(async () => {
  await server?.close()
  rmSync(root, { recursive: true, force: true })
})

async function verifyAt(port: number, hooks: Partial<VerifyDeps> = {}) {
  const ssh = {
    auth: { privateKey: user.private },
    knownHostsFiles: [],
    ownKnownHostsFile: join(root, 'known_hosts'),
    onFirstUse: () => true,
    flavours: [
      {
        directory: fileURLToPath(new URL('../../dist/release/prover-light', import.meta.url)),
        machine: 'any' as const,
        carriesNode: false,
      },
    ],
    keep: true,
    proverArguments: ['--devices', 'cpu'],
    graceMs: 500,
    silenceSeconds: SILENCE_S,
  }
  const deps = {
    clock: systemClock,
    randomness: systemRandomness,
    signer: VALIDATOR,
    checker: inlineChecker(await testEngine()),
    catalogue: await shippedCatalogue(),
    connect: (signal: AbortSignal) => connectSsh(`ssh://${server.user}@127.0.0.1:${port}`, ssh, signal),
  }
  return await verifyBox(TINY, { ...deps, ...hooks }, new AbortController().signal)
}

/** Command lines of what runs there for somebody who logged in. */
const runningThere = (): string[] =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      const isHolder = command.includes('touchstone-run-') && readEnvironment(pid).includes(`HOME=${home}\0`)
      return isHolder || readlinkSync(`/proc/${pid}/cwd`).startsWith(home) ? [command] : []
    } catch {
      return []
    }
  })
const readEnvironment = (pid: string): string => readFileSync(`/proc/${pid}/environ`, 'utf8')
const isProver = (command: string): boolean => /^\S*node prover\.js/.test(command)

describe.skipIf(missing !== null)('attack 470: a forwarder that hangs up on the validator alone', () => {
  test('leaves no prover, no workspace and no login on the machine it led to', { timeout: 30_000 }, async () => {
    const forwarder = await startHoldingForwarder(server.directPort)
    try {
      const verifying = Promise.allSettled([verifyAt(forwarder.port), verifyAt(forwarder.port)])
      await eventually(() => runningThere().some(isProver))
      forwarder.hangUp()
      const codes = (await verifying).map((one) => one.status === 'rejected' && one.reason.detail.code)
      expect(codes).toContain('BOX_CONNECTION_LOST')
      await eventually(() => runningThere().length === 0 && forwarder.held() === 0)
      const runs = readdirSync(join(home, '.cache/touchstone')).filter((name) => name.startsWith('.touchstone-run-'))
      expect(runs).toEqual([])
    } finally {
      await forwarder.close()
    }
  })

  test('attack 473: nor a login where the goodbye alone is kept back', { timeout: 30_000 }, async () => {
    const forwarder = await startHoldingForwarder(server.directPort, 30)
    try {
      expect((await verifyAt(forwarder.port)).judgement.outcome).toBe('accepted')
      await eventually(() => runningThere().length === 0 && forwarder.held() === 0)
    } finally {
      await forwarder.close()
    }
  })

  test.skipIf(!canBeFirst())(
    'attack 473: nor ends the server there that is the first process of its machine',
    { timeout: 30_000 },
    async () => {
      const keys = { hostKey: host.private, authorizedKeys: user.public }
      const contained = await startOpenSsh({ folder: join(root, 'contained'), home, ...keys, isFirst: true })
      const forwarder = await startHoldingForwarder(contained.directPort)
      try {
        const verifying = Promise.allSettled([verifyAt(forwarder.port)])
        await eventually(() => runningThere().some(isProver))
        forwarder.hangUp()
        await verifying
        // The holder waits a second before it looks for the login: by then it is gone, and whoever took its place is not it.
        await eventually(() => !runningThere().some(isProver))
        await forwarder.close()
        await eventually(() => runningThere().length === 0)
        expect(await greetingOf(contained.directPort)).toMatch(/^SSH-/)
      } finally {
        await forwarder.close().catch(() => {})
        await contained.close()
      }
    },
  )

  test('and who waits longer than that for others is held', { timeout: 30_000 }, async () => {
    const beforeStart = () => systemClock.sleep(2500 * SILENCE_S, new AbortController().signal)
    const { judgement } = await verifyAt(server.directPort, { beforeStart })
    expect(judgement.outcome).toBe('accepted')
    await eventually(() => runningThere().length === 0)
  })
})
