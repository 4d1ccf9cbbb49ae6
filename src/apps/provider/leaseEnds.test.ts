import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ask, bob, provider, request, world } from '../../../test/support/leaseWorld.ts'
import { holderOf } from '../../core/lease/leaseBook.ts'
import { keepTime, LeaseService } from './leaseService.ts'

describe('the end of a lease', () => {
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
