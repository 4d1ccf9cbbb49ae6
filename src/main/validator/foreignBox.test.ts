import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { keyPair } from '../../../test/support/keyPair.ts'
import { startSshServer } from '../../../test/support/sshServer.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { addressToDial, ensureForeign, mayBeHere } from './foreignBox.ts'
import { readValidatorConfig } from './validatorConfig.ts'
import { runValidator } from './validatorService.ts'
import { verifyJobs } from './validatorVerify.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-foreign-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const key = '0'.repeat(64)

function configWith(text: string) {
  const path = join(folder, 'validator.yaml')
  writeFileSync(path, `store: embedded:./data\n${text}`)
  return readValidatorConfig(path)
}

describe("attack 93: the validator's own machine as a box", () => {
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const hosts = ['localhost', '127.0.0.1', '127.1', '0.0.0.0', '[::1]', '169.254.169.254']
  const interfaces = own.filter(({ family }) => family === 'IPv4').map(({ address }) => address)
  const addresses = [...hosts, ...interfaces].flatMap((host) => [
    `ssh://root@${host}:22`,
    `lease://${host}:7878#${key}`,
  ])

  test.each(['local', ...addresses])('%s is refused', async (address) => {
    await expect(ensureForeign(address)).rejects.toMatchObject({ detail: { code: 'OWN_MACHINE' } })
  })

  test('another machine is dialled where it was found, one that dials in is not dialled, a lost name is no box', async () => {
    expect(await addressToDial('ssh://root@203.0.113.7:22', false)).toEqual({ at: '203.0.113.7' })
    expect(await addressToDial(`lease://[2001:db8::1]:7878#${key}`, false)).toEqual({ at: '2001:db8::1' })
    expect(await addressToDial(`lease://hub#${key}`, false)).toEqual({})
    // Attack 458: an operator's own box has a number too, whatever it is called; only this machine needs none.
    expect(await addressToDial('ssh://root@localhost:22', true)).toEqual({ at: expect.stringMatching(/^127\.|^::1$/) })
    expect(await addressToDial('local', true)).toEqual({})
    const nowhere = `ssh://root@${'x'.repeat(70)}:22`
    expect(await ensureForeign(nowhere)).toEqual([])
    await expect(addressToDial(nowhere, false)).rejects.toMatchObject({ detail: { code: 'BOX_UNREACHABLE' } })
  })

  test('its operator may name it, or let writers do so', () => {
    const box = { id: 'me', address: 'local' }
    expect(mayBeHere(configWith(''), box)).toBe(false)
    expect(mayBeHere(configWith('api: { ownMachine: true }\n'), box)).toBe(true)
    const named = configWith('boxes: [{ id: me, address: local, provider: a }]\n')
    expect(mayBeHere(named, box)).toBe(true)
    expect(mayBeHere(named, { ...box, id: 'other' })).toBe(false)
    expect(mayBeHere(named, { ...box, address: 'ssh://root@127.0.0.1:22' })).toBe(false)
  })
})

describe('a job of the fleet', () => {
  const home = join(folder, 'home')
  const env = { TOUCHSTONE_SSH_PASSWORD: 'secret', TOUCHSTONE_HOME: home }

  const user = keyPair()

  /** A light look at an SSH server on loopback, which validator.yaml names as the box `a`. */
  async function lookAt(id: string, more = ''): Promise<void> {
    const lets = { user: 'renter', password: 'secret', authorizedKey: user.public }
    const server = await startSshServer({ home, ...lets, hostKey: keyPair().private })
    const address = `ssh://renter@127.0.0.1:${server.port}`
    try {
      const config = configWith(`boxes: [{ id: a, address: '${address}', provider: p }]\n${more}`)
      const log = { info: () => {} } as never
      const addresses = async () => ['ssh://renter@n1.box.test:22', address]
      const verify = verifyJobs(config, { signer: testSigner(1) } as never, { env, log, hub: null, addresses })
      const job = { kind: 'light', box: { id, address, claim: null } } as never
      const deps = { clock: { wallTime: () => new Date(), monotonicUs: () => 0 } }
      await verify(job, deps as never, new AbortController().signal)
    } finally {
      await server.close()
    }
  }

  test('attack 91: a password is offered to no box, and a fleet does not start with one', async () => {
    await expect(lookAt('a')).rejects.toMatchObject({ detail: { code: 'SSH_AUTH_FAILED' } })
    const started = runValidator(configWith(''), { env, catalogue: {} as never }, new AbortController().signal)
    await expect(started).rejects.toMatchObject({ detail: { code: 'FLEET_PASSWORD' } })
  })

  test('attack 482: where there is no room for the host key of a box, those of boxes that are gone make room', async () => {
    const known = join(home, 'known_hosts')
    const line = (host: string) => `${host} ssh-rsa ${'A'.repeat(1396)} touchstone-fleet\n`
    mkdirSync(home, { recursive: true })
    writeFileSync(known, Array.from({ length: 3000 }, (_, i) => line(`n${i}.box.test`)).join(''))
    writeFileSync(join(folder, 'identity'), user.private, { mode: 0o600 })
    const look = () => lookAt('a', 'identity: ./identity\n').catch((error) => error.detail?.code ?? error.message)
    expect(await look()).toBe('KNOWN_HOSTS_FULL')
    expect(readFileSync(known, 'utf8')).toBe(line('n1.box.test'))
    expect(await look()).not.toBe('KNOWN_HOSTS_FULL')
    expect(readFileSync(known, 'utf8')).toMatch(/\n\[127\.0\.0\.1\]:\d+ \S+ \S+ touchstone-fleet\n$/)
  })

  test("attack 93: the validator's own machine is not dialled for a box that its operator did not name", async () => {
    await expect(lookAt('b')).rejects.toMatchObject({ detail: { code: 'OWN_MACHINE' } })
  })
})
