import { describe, expect, test } from 'vitest'
import { ann, ask, bob, isBob, request, world } from '../../../test/support/leaseWorld.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { MAX_RENT_SECONDS } from '../../core/lease/leaseBook.ts'
import { LeaseService } from './leaseService.ts'

describe('attack 513: what is refused keeps the box from nobody, whatever else was asked at the same time', () => {
  test('an old request that is sent again twice at once', async () => {
    const { deps } = world()
    const service = new LeaseService({ ...deps(), isNamed: isBob })
    await ask(service, request('a'), bob)
    await ask(service, { kind: 'release', id: 'a'.repeat(32) }, bob)
    const again = await Promise.all([1, 2].map(() => ask(service, request('a'), bob)))
    expect(again).toMatchObject([{ code: 'ID_USED' }, { code: 'ID_USED' }])
    expect(await ask(service, request('c'))).toMatchObject({ kind: 'granted' })
  })

  test('a lease to rent that the key may not have, beside one to verify that it is given', async () => {
    const { deps } = world()
    const service = new LeaseService({ ...deps(), isNamed: isBob, isAllowed: (_, purpose) => purpose === 'verify' })
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
