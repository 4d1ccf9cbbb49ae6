import { expect, test } from 'vitest'
import { type Sent, signedWrite, VALIDATOR, WRITER } from '../../../test/support/signedWrite.ts'
import { storelessApi } from '../../../test/support/storelessApi.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { toHex } from '../../core/bytes/hex.ts'
import type { Store } from '../../ports/store.ts'

const box = { address: 'ssh://root@host:22', provider: 'bob' }

const put = async (body: unknown, sent: Sent = {}, writers = [WRITER]) => {
  const kept: string[] = []
  const putBox: Store['putBox'] = async ({ id }) => {
    kept.push(id)
    return null
  }
  const store = { useNonce: async () => true, putBox } as Partial<Store> as Store
  const api = storelessApi({ store, self: VALIDATOR, writers })
  return { ...(await signedWrite(api, 'PUT', '/v1/boxes/x', body, sent)), kept }
}

test('a box that the right key signed is kept', async () => {
  expect(await put(box)).toEqual({ status: 200, body: { done: true }, kept: ['x'] })
})

test.each([
  ['no signature', { headers: { 'touchstone-signature': '' } }, 'BAD_SIGNATURE'],
  ['another body', { body: '{"address":"local","provider":"bob"}' }, 'BAD_SIGNATURE'],
  ['another path', { path: '/v1/boxes/other' }, 'BAD_SIGNATURE'],
  ['attack 56: a request signed for another validator', { validator: toHex(testSigner(6).publicKey) }, 'BAD_SIGNATURE'],
  ['another query', { path: '/v1/boxes/x?y=1' }, 'BAD_SIGNATURE'],
  ['an old request', { time: '2026-01-01T00:00:00.000Z' }, 'STALE_REQUEST'],
  ['a time of another spelling', { time: new Date().toUTCString() }, 'STALE_REQUEST'],
  ['a key nobody named', { headers: { 'touchstone-key': toHex(testSigner(4).publicKey) } }, 'UNKNOWN_KEY'],
  ['a nonce of another form', { nonce: 'short' }, 'BAD_NONCE'],
])('%s is refused', async (_, sent, code) => {
  expect(await put(box, sent)).toMatchObject({ status: 401, body: { error: { code } }, kept: [] })
})

test('without named keys nothing can be written', async () => {
  expect(await put(box, {}, [])).toMatchObject({ body: { error: { code: 'READ_ONLY' } }, kept: [] })
})

test('a box with an address for a shell, or with unknown fields, is refused', async () => {
  for (const bad of [{ ...box, address: 'ssh://a\nb' }, { ...box, admin: true }, { ...box, provider: '\u001b[0m' }, []])
    expect(await put(bad)).toMatchObject({ body: { error: { code: 'BAD_REQUEST' } }, kept: [] })
  expect((await put({ ...box, claim: 'x'.repeat(70_000) })).status).toBe(413)
  expect(await put(undefined, { raw: '{"address":' })).toMatchObject({
    status: 400,
    body: { error: { code: 'BAD_REQUEST', message: 'Malformed JSON in request body' } },
  })
})
