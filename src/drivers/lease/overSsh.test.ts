import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { faultOf, readAll } from '../../../test/suites/sshBoxSuite.ts'
import { giverKey, leasableBox, listening, serviceOf, takerKey } from '../../../test/support/leasableBox.ts'
import { whyNoOpenSsh } from '../../../test/support/openSshServer.ts'
import type { TestSshServer } from '../../../test/support/sshServer.ts'
import { serveLine } from '../../apps/provider/leaseService.ts'
import { askLiveness } from '../remote/leased/askLiveness.ts'
import { connectLeased } from '../remote/leased/connectLeased.ts'
import { openLeaseHub } from '../remote/leased/leaseHub.ts'
import { systemRandomness } from '../system/systemRandomness.ts'
import { containerAccess } from './containerAccess.ts'
import { dialOut } from './dialOut.ts'
import { sharedAccount } from './sharedAccount.ts'
import { tunnelledAccess } from './tunnelledAccess.ts'

const missing = whyNoOpenSsh()
if (missing !== null) console.log(`tests of leases against OpenSSH skipped: ${missing}`)

const root = mkdtempSync(join(tmpdir(), 'touchstone-leased-'))
const servers: TestSshServer[] = []
afterAll(async () => {
  stop.abort()
  await Promise.all(servers.map((server) => server.close()))
  rmSync(root, { recursive: true, force: true })
})
const stop = new AbortController()
const signal = stop.signal

async function boxAt(folder: string) {
  const box = await leasableBox(folder)
  servers.push(box.server)
  return { ...box, access: sharedAccount(box.shared) }
}

describe.skipIf(missing !== null)('a lease over OpenSSH', () => {
  test('lets its key in, says how it is confined, answers busy meanwhile, and is over when given back', async () => {
    const { access, options } = await boxAt(join(root, 'direct'))
    const provider = await listening(access, signal)
    const [line, other] = [await provider.dial(), await provider.dial()]
    const box = await connectLeased(line, options, signal)
    expect(box.access).toMatchObject({ confinement: 'shared account', hostKeyTrust: 'pinned', way: 'ssh' })
    const prover = await box.start(signal)
    const busy = await faultOf(connectLeased(other, options, signal))
    expect(busy.detail).toMatchObject({ code: 'BOX_BUSY', purpose: 'verify' })
    expect(await askLiveness(other, options, signal)).toMatchObject({ state: 'verifying' })
    const got = readAll(prover.output)
    await prover.write(Buffer.from('work'))
    await box.close()
    expect((await got).toString()).toBe('work')
    expect(await askLiveness(other, options, signal)).toMatchObject({ state: 'free' })
    await provider.close()
  })

  test('attack 14: somebody else in the place of the box is refused, and the lease is given back', async () => {
    const { access, options } = await boxAt(join(root, 'imposed'))
    const impostor = await boxAt(join(root, 'impostor'))
    const lying = {
      ...access,
      open: async (...args: Parameters<typeof access.open>) => ({
        ...(await access.open(...args)),
        port: impostor.server.port,
      }),
    }
    const provider = await listening(lying, signal)
    const line = await provider.dial()
    expect((await faultOf(connectLeased(line, options, signal))).detail.code).toBe('HOST_KEY_CHANGED')
    expect(await askLiveness(line, options, signal)).toMatchObject({ state: 'free' })
    // Attack 33: a provider that is not the one we mean does not answer in its place.
    const another = { ...line, key: takerKey }
    expect(await faultOf(askLiveness(another, options, signal))).toMatchObject({
      detail: { code: 'PROVIDER_GONE' },
      nextStep: expect.stringContaining('Compare the key'),
    })
    await provider.close()
  })

  test('whoever is not let in is told the key that the provider would have to allow', async () => {
    const { access, options } = await boxAt(join(root, 'closed'))
    const provider = await listening(access, signal, () => false)
    expect(await faultOf(connectLeased(await provider.dial(), options, signal))).toMatchObject({
      detail: { code: 'LEASE_REFUSED' },
      message: expect.stringContaining('NOT_ALLOWED'),
      nextStep: expect.stringContaining(`provider allow ${takerKey}`),
    })
    await provider.close()
  })

  test('in a container every command goes through the engine, and the release comes in without SFTP', async () => {
    const folder = join(root, 'contained')
    const { shared, options } = await boxAt(folder)
    const engine = join(folder, 'docker')
    // Stands in for an engine: notes each command and runs it here.
    const lines = ['#!/bin/sh', `printf '%s\\n' "$1" >> '${folder}/asked'`, 'case $1 in', 'exec) shift 3; exec "$@" ;;']
    writeFileSync(engine, [...lines, 'esac', ''].join('\n'), { mode: 0o755 })
    const access = containerAccess({ ...shared, engine, image: 'any', gpuFlags: [], env: {} })
    const provider = await listening(access, signal)
    const line = await provider.dial()
    const box = await connectLeased(line, options, signal)
    expect(box.access).toMatchObject({ confinement: 'container' })
    const prover = await box.start(signal)
    const got = readAll(prover.output)
    await prover.write(Buffer.from('inside'))
    await box.close()
    expect((await got).toString()).toBe('inside')
    const asked = readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n')
    expect(asked[0]).toBe('run')
    expect(asked.filter((word) => word === 'exec').length).toBeGreaterThanOrEqual(4)
    expect(asked).toContain('rm')
    await provider.close()
  })

  test('a provider behind NAT dials out and serves the same, SSH included', async () => {
    const { server, access, options } = await boxAt(join(root, 'nat'))
    const hub = await openLeaseHub(
      { host: '127.0.0.1', port: 0 },
      { self: takerKey, accepts: async (key) => key === giverKey },
    )
    const url = `ws://127.0.0.1:${hub.port}/lease`
    const service = serviceOf(tunnelledAccess(access, { url, sshPort: server.port }))
    const dialled = new AbortController()
    const serving = dialOut(
      { url, key: takerKey },
      {
        hello: (to) => service.hello(to),
        serve: (channel, until) => serveLine(service, channel, until),
        onUp: () => {},
      },
      dialled.signal,
    )
    const line = await hub.line(giverKey, signal)
    const box = await connectLeased(line, { ...options, tunnel: hub.tunnel }, signal)
    expect(box.access).toMatchObject({ way: 'ssh in a tunnel', hostKeyTrust: 'pinned' })
    const prover = await box.start(signal)
    const sent = systemRandomness.bytes(500_000)
    const got = readAll(prover.output)
    await prover.write(sent)
    await prover.stop()
    expect((await got).equals(sent)).toBe(true)
    await box.close()
    expect(await askLiveness(await hub.line(giverKey, signal), options, signal)).toMatchObject({ state: 'free' })
    dialled.abort()
    await serving
    await hub.close()
  })
})
