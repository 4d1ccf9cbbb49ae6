import { describe, expect, test } from 'vitest'
import {
  ann,
  ask,
  bob,
  encoded,
  isBob,
  never,
  provider,
  request,
  settled,
  world,
} from '../../../test/support/leaseWorld.ts'
import { signerFrom } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { holderOf, type Lease, MAX_VERIFY_SECONDS } from '../../core/lease/leaseBook.ts'
import { fault } from '../../drivers/lease/faults.ts'
import { LeaseService } from './leaseService.ts'

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
  for (const signer of [ann, provider]) expect(await ask(service, request('d'), signer)).toMatchObject({ kind: 'busy' })
  expect(await ask(service, request('e', { sshKey: 'none' }), bob)).toMatchObject({ code: 'BAD_KEY' })
})

test('attack 484: where the stranger will not go the box is busy, and the stranger stays in the book', async () => {
  const { state, deps } = world()
  const { access, ...rest } = deps()
  const close = () => Promise.reject(new Error('a process of the tenant would not end'))
  const service = new LeaseService({ ...rest, access: { ...access, close }, isNamed: isBob })
  await ask(service, request('a'))
  expect(await ask(service, request('b'), bob)).toMatchObject({ kind: 'busy' })
  expect(holderOf(state.disk)).toMatchObject({ id: 'a'.repeat(32) })
})

test('attack 484: and nothing ends for a request that is refused', async () => {
  const { state, deps } = world()
  const service = new LeaseService({ ...deps(), isNamed: isBob })
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
    const service = new LeaseService({
      ...rest,
      clock: { ...clock, sleep },
      access: { ...access, close },
      isNamed: isBob,
    })
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
    const answered = service.handle(encoded(request('b'), bob), never, seat as never)
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
  const service = new LeaseService({ ...rest, access: clearing, isNamed: isBob })
  expect(await ask(service, request('a'), bob)).toMatchObject({ kind: 'busy' })
  isCleared = true
  expect(await ask(service, request('b'))).toMatchObject({ kind: 'busy' })
  expect(state.keys.size).toBe(0)
  expect(await ask(service, request('c'), bob)).toMatchObject({ kind: 'granted' })
})
