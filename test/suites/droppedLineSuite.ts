import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectSsh } from '../../src/drivers/remote/ssh/connectSsh.ts'
import { TouchstoneError } from '../../src/ports/errors.ts'
import { type CuttingRelay, startCuttingRelay } from '../support/cuttingRelay.ts'
import { eventually } from '../support/eventually.ts'
import { keyPair } from '../support/keyPair.ts'
import { makeRelease } from '../support/makeRelease.ts'
import type { TestSshServer } from '../support/sshServer.ts'
import { SCRIPTS, type SshServerMaker } from './sshBoxSuite.ts'

export const MOMENTS = Array.from({ length: 20 }, (_, i) => i)

/** The line is cut at each of 20 moments: there is always an answer, and never anything left on the box. */
export function droppedLineSuite(name: string, makeServer: SshServerMaker, rounds: number): void {
  const root = mkdtempSync(join(tmpdir(), 'touchstone-dropped-'))
  const home = join(root, 'home')
  const [host, user] = [keyPair(), keyPair()]
  const never = new AbortController().signal
  const directory = makeRelease(join(root, 'release'), { files: { 'p.sh': SCRIPTS.echo }, command: ['sh', 'p.sh'] })
  let server: TestSshServer
  let relay: CuttingRelay

  /** A whole use of the box; how it ended. */
  async function use(): Promise<string> {
    const options = {
      auth: { privateKey: user.private },
      knownHostsFiles: [],
      ownKnownHostsFile: join(root, 'known_hosts'),
      onFirstUse: () => true,
      flavours: [{ directory, machine: 'any', carriesNode: false }],
      keep: true,
    }
    try {
      const box = await connectSsh(`ssh://${server.user}@127.0.0.1:${relay.port}`, options, never)
      try {
        await box.install(never)
        const prover = await box.start(never)
        await prover.write(Buffer.from('a word and its echo'))
        for await (const _ of prover.output) break
        await prover.stop()
        return (await prover.ended).lost ? 'lost' : 'done'
      } finally {
        await box.close()
      }
    } catch (error) {
      if (error instanceof TouchstoneError) return error.detail.code
      throw error
    }
  }

  const running = () => readdirSync(home).filter((entry) => entry.startsWith('.touchstone-run-'))
  /** Whoever was started for a login has its home in the environment. */
  const processes = () =>
    readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`HOME=${home}\0`)
        } catch {
          return false
        }
      })
  const forget = () => {
    rmSync(home, { recursive: true, force: true })
    // The server may still do what it was asked before the line was cut, and make the folder anew by that.
    mkdirSync(home, { recursive: true })
  }

  beforeAll(async () => {
    mkdirSync(home)
    server = await makeServer({ folder: join(root, 'sshd'), home, hostKey: host.private, authorizedKey: user.public })
    relay = await startCuttingRelay(server.port)
  })
  afterAll(async () => {
    await relay.close()
    await server.close()
    rmSync(root, { recursive: true, force: true })
  })

  describe.each(['first', 'later'] as const)(`${name}: the connection is dropped, %s use`, (which) => {
    let whole = 0
    beforeAll(async () => {
      // Once to learn how much goes over the line in such a use.
      forget()
      for (const _ of which === 'first' ? [1] : [1, 2]) {
        relay.cutAfter(null)
        expect(await use()).toBe('done')
      }
      whole = relay.passed()
    })

    test.each(MOMENTS)('at moment %i of 20', { timeout: 50_000 + 10_000 * rounds }, async (moment) => {
      for (let round = 0; round < rounds; round++) {
        if (which === 'first') forget()
        // Rounds after the first fall between the moments of the first.
        relay.cutAfter(Math.floor((whole * (moment + round / rounds)) / MOMENTS.length))
        expect(await use()).toMatch(/^(lost|done|BOX_UNREACHABLE|BOX_CONNECTION_LOST|BOX_UPLOAD_FAILED)$/)
        await eventually(() => running().length === 0 && processes().length === 0)
      }
    })

    test('and what is kept there still serves', async () => {
      relay.cutAfter(null)
      expect(await use()).toBe('done')
    })
  })
}
