import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { signerFrom } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import {
  holderOf,
  type Lease,
  type LeaseBook,
  MAX_RENT_SECONDS,
  MAX_VERIFY_SECONDS,
} from '../../core/lease/leaseBook.ts'
import { decodeAnswer, encodeAsk, type LeaseAsk } from '../../core/lease/leaseMessages.ts'
import { fault } from '../../drivers/lease/faults.ts'
import { sealToKey } from '../../drivers/system/sealToKey.ts'
import { keepTime, type LeaseDeps, LeaseService } from './leaseService.ts'

const provider = signerFrom(new Uint8Array(32).fill(1))
const [ann, bob] = [signerFrom(new Uint8Array(32).fill(2)), signerFrom(new Uint8Array(32).fill(3))]
const to = toHex(provider.publicKey)
const never = new AbortController().signal
const sshKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH'

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A box in memory: what is on its disk and which keys it lets in. Any step can be made to crash. */
function world(crashAt = Number.POSITIVE_INFINITY) {
  const state = {
    nowMs: 1_000_000,
    disk: { leases: [] } as LeaseBook,
    keys: new Map<string, string>(),
    opened: [] as string[],
    steps: 0,
  }
  const step = async (): Promise<void> => {
    if (state.steps++ >= crashAt) throw new Error('crash')
  }
  const deps = (limit = step): LeaseDeps => ({
    signer: provider,
    // Any time passes as soon as nothing else is left to be done.
    clock: { monotonicUs: () => 0, wallTime: () => new Date(state.nowMs), sleep: settled },
    journal: {
      read: async () => state.disk,
      write: async (book) => {
        await limit()
        state.disk = structuredClone(book)
      },
    },
    access: {
      open: async (lease: Lease) => {
        await limit()
        state.keys.set(lease.id, lease.sshKey)
        state.opened.push(lease.id)
        await limit()
        const where = { user: 'u', host: 'h', port: 22, hostKey: `SHA256:${'A'.repeat(43)}`, tunnel: '' }
        return { ...where, confinement: 'own account' as const }
      },
      close: async (id: string) => {
        await limit()
        state.keys.delete(id)
      },
    },
    seal: (_, plain) => plain,
    isAllowed: (_, purpose) => purpose === 'verify' || purpose === 'rent',
    isNamed: () => false,
    tell: () => {},
  })
  return { state, deps }
}

const ask = async (service: LeaseService, message: Record<string, unknown>, signer = ann) => {
  const bytes = await service.handle(encodeAsk({ to, askedAtMs: 1_000_000, ...message } as LeaseAsk, signer), never)
  return bytes === null ? null : decodeAnswer(bytes, toHex(signer.publicKey)).message
}
const request = (id: string, over: Record<string, unknown> = {}) => ({
  kind: 'request',
  id: id.repeat(32),
  purpose: 'verify',
  seconds: 60,
  sshKey,
  ...over,
})

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

  test('the owner of the box ends any lease with the key of the provider, and nobody else does', async () => {
    const { state, deps } = world()
    const service = new LeaseService(deps())
    await ask(service, request('a', { purpose: 'rent' }))
    const release = { kind: 'release', id: 'a'.repeat(32) }
    expect(await ask(service, { ...release, id: 'b'.repeat(32) }, provider)).toMatchObject({ code: 'NO_SUCH_LEASE' })
    expect(await ask(service, release, bob)).toMatchObject({ kind: 'refused', code: 'NOT_YOURS' })
    expect(state.keys.size).toBe(1)
    expect(await ask(service, release, provider)).toMatchObject({ kind: 'released' })
    expect(state.keys.size).toBe(0)
  })

  test('attack 484: a stranger who verifies gives way to a key that the provider named, and to nobody else', async () => {
    const { state, deps } = world()
    const named = [bob, provider].map(({ publicKey }) => toHex(publicKey))
    const service = new LeaseService({ ...deps(), isNamed: (key) => named.includes(key) })
    expect(await ask(service, request('a'))).toMatchObject({ kind: 'granted' })
    expect(await ask(service, request('b'), signerFrom(new Uint8Array(32).fill(4)))).toMatchObject({ kind: 'busy' })
    expect(await ask(service, request('c'), bob)).toMatchObject({ kind: 'granted' })
    expect([...state.keys.keys()]).toEqual(['c'.repeat(32)])
    expect(state.disk.leases.map(({ id, state }) => [id[0], state])).toEqual([
      ['a', 'released'],
      ['c', 'open'],
    ])
    for (const signer of [ann, provider])
      expect(await ask(service, request('d'), signer)).toMatchObject({ kind: 'busy' })
    expect(await ask(service, request('e', { sshKey: 'none' }), bob)).toMatchObject({ code: 'BAD_KEY' })
  })

  test('attack 484: where the stranger will not go the box is busy, and the stranger stays in the book', async () => {
    const { state, deps } = world()
    const { access, ...rest } = deps()
    const close = () => Promise.reject(new Error('a process of the tenant would not end'))
    const isNamed = (key: string) => key === toHex(bob.publicKey)
    const service = new LeaseService({ ...rest, access: { ...access, close }, isNamed })
    await ask(service, request('a'))
    expect(await ask(service, request('b'), bob)).toMatchObject({ kind: 'busy' })
    expect(holderOf(state.disk)).toMatchObject({ id: 'a'.repeat(32) })
  })

  test('attack 484: and nothing ends for a request that is refused', async () => {
    const { state, deps } = world()
    const service = new LeaseService({ ...deps(), isNamed: (key) => key === toHex(bob.publicKey) })
    await ask(service, request('a'))
    expect(await ask(service, request('b', { seconds: MAX_VERIFY_SECONDS + 1 }), bob)).toMatchObject({
      code: 'TOO_LONG',
    })
    expect(await ask(service, request('a'), bob)).toMatchObject({ code: 'ID_USED' })
    expect([...state.keys.keys()]).toEqual(['a'.repeat(32)])
  })

  describe('attack 490: a stranger who takes long to clean up after, so that the key that was named is told too late', () => {
    const stranger = signerFrom(new Uint8Array(32).fill(4))
    /** Closing waits for `clean`; `wait` lets the time that askers have pass. */
    const slow = () => {
      const { state, deps } = world()
      const { access, clock, ...rest } = deps()
      const [closings, sleepers]: [(() => void)[], { ms: number; wake: () => void }[]] = [[], []]
      const close = async (id: string): Promise<void> => {
        await new Promise<void>((resolve) => void closings.push(resolve))
        await access.close(id)
      }
      const sleep = (ms: number, signal?: AbortSignal) =>
        new Promise<void>((wake, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('woken')))
          if (!signal?.aborted) sleepers.push({ ms, wake })
        })
      const isNamed = (key: string) => key === toHex(bob.publicKey)
      const service = new LeaseService({ ...rest, clock: { ...clock, sleep }, access: { ...access, close }, isNamed })
      const wait = (ms: number) => {
        for (const one of sleepers.splice(0)) one.ms <= ms ? one.wake() : sleepers.push(one)
      }
      const clean = () => {
        for (const closeNow of closings.splice(0)) closeNow()
      }
      return { state, service, wait, clean }
    }
    test('it is known at the door when it asks, not when it is answered', async () => {
      const { service, wait, clean } = slow()
      await ask(service, request('a'))
      const said: string[] = []
      const seat = { maySpeak: () => true, heard: () => said.push('heard'), known: () => said.push('known') }
      const asking = encodeAsk({ to, askedAtMs: 1_000_000, ...request('b') } as LeaseAsk, bob)
      const answered = service.handle(asking, never, seat as never)
      await settled()
      expect(said).toEqual(['known'])
      wait(45_000)
      await answered
      clean()
    })

    test('it waits for longer than a stranger does, and has the box when the stranger has gone', async () => {
      const { service, wait, clean } = slow()
      await ask(service, request('a'))
      const answered = ask(service, request('b'), bob)
      await settled()
      wait(10_000)
      clean()
      expect(await answered).toMatchObject({ kind: 'granted' })
    })

    test('turned away all the same, it is given nothing later, and strangers have nothing until it has asked again', async () => {
      const { state, service, wait, clean } = slow()
      await ask(service, request('a'))
      const answered = ask(service, request('b'), bob)
      await settled()
      wait(45_000)
      expect(await answered).toMatchObject({ kind: 'busy' })
      clean()
      await settled()
      clean()
      await settled()
      expect([...state.keys.keys()]).toEqual([])
      // An old request that somebody on the way sends again.
      expect(await ask(service, request('a'), bob)).toMatchObject({ kind: 'refused' })
      expect(await ask(service, request('c'), stranger)).toMatchObject({ kind: 'busy' })
      state.nowMs += 60_000
      expect(await ask(service, { ...request('d'), askedAtMs: state.nowMs }, bob)).toMatchObject({ kind: 'granted' })
    })

    test('strangers wait no longer than a lease to verify may last', async () => {
      const { state, service, wait, clean } = slow()
      await ask(service, request('a'))
      const answered = ask(service, request('b'), bob)
      await settled()
      wait(45_000)
      await answered
      clean()
      await settled()
      clean()
      await settled()
      state.nowMs += 1000 * MAX_VERIFY_SECONDS
      expect(await ask(service, { ...request('c'), askedAtMs: state.nowMs }, stranger)).toMatchObject({
        kind: 'granted',
      })
    })

    test('attack 513: an old request that somebody sends again meanwhile keeps it from nobody', async () => {
      const { service, wait, clean } = slow()
      const giveBack = (id: string, who = ann) => ask(service, { kind: 'release', id: id.repeat(32) }, who)
      await ask(service, request('a'), bob)
      const cleaned = giveBack('a', bob)
      await settled()
      clean()
      await cleaned
      await ask(service, request('b'))
      const left = giveBack('b')
      const again = ask(service, request('a'), bob)
      await settled()
      wait(45_000)
      expect(await again).toMatchObject({ kind: 'busy' })
      clean()
      await left
      expect(await ask(service, request('c'), stranger)).toMatchObject({ kind: 'granted' })
    })
  })

  describe('attack 513: what is refused keeps the box from nobody, whatever else was asked at the same time', () => {
    const isNamed = (key: string) => key === toHex(bob.publicKey)

    test('an old request that is sent again twice at once', async () => {
      const { deps } = world()
      const service = new LeaseService({ ...deps(), isNamed })
      await ask(service, request('a'), bob)
      await ask(service, { kind: 'release', id: 'a'.repeat(32) }, bob)
      const again = await Promise.all([1, 2].map(() => ask(service, request('a'), bob)))
      expect(again).toMatchObject([{ code: 'ID_USED' }, { code: 'ID_USED' }])
      expect(await ask(service, request('c'))).toMatchObject({ kind: 'granted' })
    })

    test('a lease to rent that the key may not have, beside one to verify that it is given', async () => {
      const { deps } = world()
      const service = new LeaseService({ ...deps(), isNamed, isAllowed: (_, purpose) => purpose === 'verify' })
      const asked = [request('a'), request('b', { purpose: 'rent' })].map((one) => ask(service, one, bob))
      expect(await Promise.all(asked)).toMatchObject([{ kind: 'granted' }, { code: 'NOT_ALLOWED' }])
      await ask(service, { kind: 'release', id: 'a'.repeat(32) }, bob)
      expect(await ask(service, request('c'))).toMatchObject({ kind: 'granted' })
    })
  })

  describe('attack 522: a recorded request is given nothing later', () => {
    const named = [ann, bob].map(({ publicKey }) => toHex(publicKey))
    const isNamed = (key: string) => named.includes(key)

    test.each([
      ['verify', 1000],
      ['rent', MAX_RENT_SECONDS],
    ] as const)('to %s, where its key was told that the box is busy', async (purpose, seconds) => {
      const { deps } = world()
      const service = new LeaseService({ ...deps(), isNamed })
      const asked = () => ask(service, request('b', { purpose, seconds }), ann)
      await ask(service, request('a'), bob)
      expect(await asked()).toMatchObject({ kind: 'busy' })
      await ask(service, { kind: 'release', id: 'a'.repeat(32) }, bob)
      expect(await asked()).toMatchObject({ code: 'ID_USED' })
      expect(await ask(service, request('c'), bob)).toMatchObject({ kind: 'granted' })
    })

    test('where its key gave it back before it came', async () => {
      const { deps } = world()
      const service = new LeaseService({ ...deps(), isNamed })
      expect(await ask(service, { kind: 'release', id: 'b'.repeat(32) }, bob)).toMatchObject({ code: 'NO_SUCH_LEASE' })
      expect(await ask(service, request('b'), bob)).toMatchObject({ code: 'ID_USED' })
      expect(await ask(service, request('b'), ann)).toMatchObject({ kind: 'granted' })
    })
  })

  test('attack 420: while another is cleaned up after, or where that fails, the box is busy, and gives signs of life', async () => {
    const { state, deps } = world()
    const { access, ...rest } = deps()
    let [clean, isBroken] = [() => {}, false]
    const close = async (id: string): Promise<void> => {
      if (isBroken) throw new Error('a process of the tenant would not end')
      await new Promise<void>((resolve) => {
        clean = resolve
      })
      await access.close(id)
    }
    const service = new LeaseService({ ...rest, access: { ...access, close } })
    await ask(service, request('a'))
    const released = ask(service, { kind: 'release', id: 'a'.repeat(32) })
    expect(await ask(service, request('b'), bob)).toMatchObject({ kind: 'busy', id: 'b'.repeat(32) })
    expect(await ask(service, { kind: 'liveness', nonce: '0'.repeat(64) }, bob)).toMatchObject({ kind: 'alive' })
    clean()
    expect(await released).toMatchObject({ kind: 'released' })
    expect(await ask(service, request('b'), bob)).toMatchObject({ kind: 'granted' })
    // Whose time is over, and who does not go.
    isBroken = true
    state.nowMs += 61_000
    const late = { ...request('c'), askedAtMs: state.nowMs }
    expect(await ask(service, late)).toMatchObject({ kind: 'busy' })
    expect(state.opened).toEqual(['a', 'b'].map((id) => id.repeat(32)))
  })

  test('a lease that cannot be closed at once is closed later; the one who keeps time goes on', async () => {
    const { state, deps } = world()
    let stuck = 2
    const told: unknown[] = []
    const { access, ...rest } = deps()
    const close = async (id: string): Promise<void> => {
      if (stuck-- > 0) throw new Error('a process of the tenant would not end')
      await access.close(id)
    }
    const service = new LeaseService({ ...rest, access: { ...access, close }, tell: (news) => told.push(news) })
    await ask(service, request('a'))
    state.nowMs += 60_000
    const stop = new AbortController()
    const sleep = async (): Promise<void> => {
      if (state.keys.size === 0) stop.abort()
    }
    await keepTime(service, { ...rest.clock, sleep }, stop.signal)
    expect(state.keys.size).toBe(0)
    expect(told.filter((news) => (news as { event: string }).event === 'fault')).toHaveLength(2)
    expect(holderOf(state.disk)).toBeNull()
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

  test('behavior: a lease ends on time, and all end when the provider stops', async () => {
    const { state, deps } = world()
    const service = new LeaseService(deps())
    await ask(service, request('a'))
    expect(await service.tick()).toBeLessThan(state.nowMs + 60_000)
    state.nowMs += 60_000
    expect(await service.tick()).toBeNull()
    expect(state.keys.size).toBe(0)
    await ask(service, request('b', { askedAtMs: state.nowMs }))
    expect(state.keys.size).toBe(1)
    await service.shutDown()
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

  test('attack 524: where it fails for what another left, the box is busy, and kept for the key that was named', async () => {
    const { state, deps } = world()
    const { access, ...rest } = deps()
    let isCleared = false
    const clearing = {
      ...access,
      open: async (lease: Lease, signal: AbortSignal) => {
        if (!isCleared) throw fault('STILL_CLEARING')
        return await access.open(lease, signal)
      },
    }
    const isNamed = (key: string) => key === toHex(bob.publicKey)
    const service = new LeaseService({ ...rest, access: clearing, isNamed })
    expect(await ask(service, request('a'), bob)).toMatchObject({ kind: 'busy' })
    isCleared = true
    expect(await ask(service, request('b'))).toMatchObject({ kind: 'busy' })
    expect(state.keys.size).toBe(0)
    expect(await ask(service, request('c'), bob)).toMatchObject({ kind: 'granted' })
  })

  test('property: a crash at any step leaves nothing that the next start does not close', async () => {
    const anAct = fc.constantFrom('request a', 'request b', 'release a', 'tick', 'later')
    await fc.assert(
      fc.asyncProperty(fc.array(anAct, { maxLength: 12 }), fc.nat(30), async (acts, crashAt) => {
        const { state, deps } = world(crashAt)
        const service = new LeaseService(deps())
        const recorded: Record<string, unknown>[] = []
        for (const act of acts) {
          const [verb, id] = act.split(' ')
          const at = { askedAtMs: state.nowMs }
          if (verb === 'request') recorded.push(request(id!, at))
          const done =
            verb === 'request'
              ? ask(service, request(id!, at))
              : verb === 'release'
                ? ask(service, { kind: 'release', id: id!.repeat(32), ...at })
                : service.tick()
          if (verb === 'later') state.nowMs += 30_000
          // From the crash on the process is gone.
          if (
            await done.then(
              () => state.steps > crashAt,
              () => true,
            )
          )
            break
        }
        const held = state.disk.leases
          .filter((lease) => ['requested', 'open'].includes(lease.state))
          .map(({ id }) => id)
        for (const id of state.keys.keys()) expect(held).toContain(id)
        const again = new LeaseService(deps(async () => {}))
        await again.recover()
        expect(state.keys.size).toBe(0)
        // Whoever recorded the requests shows them all again to the one that started after the crash.
        const before = [...state.opened]
        for (const message of recorded) await ask(again, message)
        for (const id of before) expect(state.opened.filter((one) => one === id)).toHaveLength(1)
      }),
      { numRuns: 40 },
    )
  })
})
