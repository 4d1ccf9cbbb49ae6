import { describe, expect, test } from 'vitest'
import { ask, bob, never, request, sshKey, world } from '../../../test/support/leaseWorld.ts'
import { type Lease, MAX_VERIFY_SECONDS } from '../../core/lease/leaseBook.ts'
import { fault } from '../../drivers/lease/faults.ts'
import { sealToKey } from '../../drivers/system/sealToKey.ts'
import { LeaseService } from './leaseService.ts'

describe('LeaseService', () => {
  test('default: a lease is granted, used, and released by its holder alone', async () => {
    const { state, deps } = world()
    const service = new LeaseService(deps())
    await service.recover()
    const granted = await ask(service, request('a'))
    expect(granted).toMatchObject({ kind: 'granted', expiresAtMs: state.nowMs + 60_000 })
    const sealed = granted?.kind === 'granted' ? JSON.parse(atob(granted.sealed)) : null
    expect(sealed).toMatchObject({ user: 'u', confinement: 'own account' })
    expect([...state.keys.values()]).toEqual([sshKey])
    expect(state.disk.leases[0]!.state).toBe('open')
    const release = { kind: 'release', id: 'a'.repeat(32) }
    expect(await ask(service, release, bob)).toMatchObject({ kind: 'refused', code: 'NOT_YOURS' })
    expect(state.keys.size).toBe(1)
    expect(await ask(service, release)).toMatchObject({ kind: 'released' })
    expect(state.keys.size).toBe(0)
  })

  test('attack 18: a leased box answers busy, and a fresh sign of life, and is not disturbed', async () => {
    const { state, deps } = world()
    const service = new LeaseService(deps())
    expect(await ask(service, { kind: 'liveness', nonce: '0'.repeat(64) })).toMatchObject({ state: 'free' })
    await ask(service, request('a', { purpose: 'rent' }), bob)
    expect(await ask(service, request('b'))).toMatchObject({ kind: 'busy', purpose: 'rent' })
    const alive = await ask(service, { kind: 'liveness', nonce: '5'.repeat(64) })
    expect(alive).toMatchObject({ kind: 'alive', state: 'leased', nonce: '5'.repeat(64) })
    expect(state.keys.size).toBe(1)
  })

  test.each([
    ['an old question', request('a', { askedAtMs: 1_000_000 - 200_000 }), 'STALE'],
    ['a key with a command in front', request('a', { sshKey: `command="id" ${sshKey}` }), 'BAD_KEY'],
    ['a lease without end', request('a', { seconds: MAX_VERIFY_SECONDS + 1 }), 'TOO_LONG'],
  ])('behavior: %s is refused with %s', async (_, message, code) => {
    const { state, deps } = world()
    expect(await ask(new LeaseService(deps()), message)).toMatchObject({ kind: 'refused', code })
    expect(state.keys.size).toBe(0)
  })

  const keyOf = (type: string, ...fields: Uint8Array[]): string => {
    const wire = [Buffer.from(type), ...fields].flatMap((field) => [Buffer.from([0, 0, 0, 0]), field])
    for (let i = 0; i < wire.length; i += 2) (wire[i] as Buffer).writeUInt32BE(wire[i + 1]!.length)
    return `${type} ${Buffer.concat(wire).toString('base64')}`
  }
  test.each([
    ['the neutral point', keyOf('ssh-ed25519', new Uint8Array(32).fill(1, 0, 1))],
    ['a point of small order', keyOf('ssh-ed25519', new Uint8Array(32))],
    ['no point of the curve', keyOf('ssh-ed25519', new Uint8Array(32).fill(2, 0, 1))],
  ])('attack 58: a key that nothing can be sealed to (%s) never opens access', async (_, key) => {
    const { state, deps } = world()
    const service = new LeaseService({ ...deps(), seal: sealToKey })
    expect(await ask(service, request('a', { sshKey: key }))).toMatchObject({ kind: 'refused', code: 'BAD_KEY' })
    // Neither the journal nor the access was touched.
    expect(state.steps).toBe(0)
  })

  test('attack 51: strangers, unsigned bytes and replays get nothing', async () => {
    const { state, deps } = world()
    const closed = new LeaseService({ ...deps(), isAllowed: () => false })
    expect(await ask(closed, request('a'))).toMatchObject({ code: 'NOT_ALLOWED' })
    const service = new LeaseService(deps())
    expect(await service.handle(new Uint8Array(200), never)).toBeNull()
    await ask(service, request('a'))
    await ask(service, { kind: 'release', id: 'a'.repeat(32) })
    expect(await ask(service, request('a'))).toMatchObject({ code: 'ID_USED' })
    expect(state.keys.size).toBe(0)
  })

  test('behavior: access that cannot be opened is closed again and refused', async () => {
    const { state, deps } = world()
    const { access, ...rest } = deps()
    const failing = {
      ...access,
      open: async (lease: Lease, signal: AbortSignal) => {
        await access.open(lease, signal)
        throw fault('LEASE_TOO_SHORT')
      },
    }
    const service = new LeaseService({ ...rest, access: failing })
    expect(await ask(service, request('a'))).toMatchObject({ kind: 'refused', code: 'CANNOT_OPEN' })
    expect(state.keys.size).toBe(0)
    expect(await ask(service, request('b'))).toMatchObject({ kind: 'refused' })
  })
})
