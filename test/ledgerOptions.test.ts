import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createNodeApi } from '../src/apps/api/node/createNodeApi.ts'
import { accessTo } from '../src/apps/node/accessTo.ts'
import type { RunningNode } from '../src/apps/node/node.ts'
import { toHex } from '../src/core/bytes/hex.ts'
import { devnetKeys } from '../src/core/chain/devnetGenesis.ts'
import { signTx } from '../src/core/chain/signTx.ts'
import { TransferType } from '../src/core/chain/transactions/payloads.ts'
import { proveScore, sealRound } from '../src/core/ledger/roundRecord.ts'
import { chainLedger } from '../src/drivers/ledger/chainLedger.ts'
import { isPublishedCall } from '../src/drivers/ledger/evm/roundsContract.ts'
import { NodeWorld } from './support/chainNodes.ts'
import { type Given, optionsOf, runCommand } from './support/runCommand.ts'
import { testSigner } from './support/testSigner.ts'
import { library } from './support/vrfLibrary.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-ledger-options-'))
const write = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const NOW = Date.parse('2026-11-16T00:00:00Z')
const home = { env: { ...process.env, TOUCHSTONE_HOME: join(folder, 'home') }, nowMs: NOW }

const signer = testSigner(7)
const validator = toHex(signer.publicKey)
const certificate = write('certificate.json', 'a certificate')
const entries = ['a', 'b'].map((box) => ({
  ...{ box, score: 3 },
  certificate: createHash('sha256').update('a certificate').digest('hex'),
}))
const round = sealRound({ round: 4, closedAtMs: NOW - 3_600_000, entries }, signer)
const proof = proveScore(round, 'a')!
const [contract, publisher] = ['11', '22'].map((byte) => `0x${byte.repeat(20)}`) as [string, string]
const [other, chainId] = ['ab'.repeat(32), '31337']

/** A node of an EVM chain whose contract knows the score, published from there. */
function answerAsEvm(body: string): Response {
  const { method, params = [] } = JSON.parse(body) as {
    method: string
    params?: readonly { to?: string; data?: string }[]
  }
  const isThere = params[0]?.to === contract && params[0].data === isPublishedCall(publisher, proof)
  const result =
    { eth_chainId: '0x7a69', eth_blockNumber: '0x10' }[method] ??
    `0x${isThere ? '01'.padStart(64, '0') : '0'.repeat(64)}`
  return Response.json({ jsonrpc: '2.0', id: 1, result })
}

let node: RunningNode
let [chain, ours, evm] = ['', '', '']
const servers: ReturnType<typeof serve>[] = []
beforeAll(async () => {
  const world = new NodeWorld(1)
  node = await world.start(0)
  const { signal } = new AbortController()
  const access = accessTo(node)
  const terms = await access.terms(signal)
  chain = toHex(terms.genesisHash)
  const payload = TransferType.serialize({ to: signer.publicKey, amount: 10n ** 12n })
  await access.submit(signTx(devnetKeys(0, library.vrf).signer, { kind: 0, nonce: 0n, payload }, terms), signal)
  await world.pass(5)
  await chainLedger(access, signer).publish(round, signal)
  await world.pass(8)
  const note = () => {}
  const app = createNodeApi({
    ...{ node, clock: world.clock, log: { debug: note, info: note, warn: note, error: note } },
    ...{ requestsPerMinute: 1e6, program: 'touchstone 0.1.0', whenSent: (_, done) => done(), clientOf: () => 'test' },
  })
  servers.push(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }))
  servers.push(serve({ fetch: async (asked) => answerAsEvm(await asked.text()), port: 0, hostname: '127.0.0.1' }))
  await Promise.all(servers.map((server) => server.listening || once(server, 'listening')))
  ;[ours, evm] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`) as [
    string,
    string,
  ]
})
afterAll(async () => {
  for (const server of servers) server.close()
  await node?.close()
  rmSync(folder, { recursive: true, force: true })
})

const revoked = [{ key: validator, status: 'revoked', since: '2026-01-01T00:00:00.000Z' }]
const onEvm = (): Given => ({ rpc: [evm], 'chain-id': [chainId], contract: [contract], publisher: [publisher] })
const onOurs = (): Given => ({ node: [ours], chain: [chain] })

/** What a reader asks, option by option, and neither file meets. Those of a chain stand beside the others of that chain. */
const unmet = (): Readonly<Record<string, Given>> => ({
  trust: { trust: [other] },
  box: { box: ['c'] },
  'max-age': { 'max-age': ['1s'] },
  revoked: { revoked: [write('revoked.json', JSON.stringify({ version: 1, keys: revoked }))] },
  certificate: { certificate: [write('another.json', 'another certificate')] },
  rpc: { ...onEvm(), rpc: [evm, ours] },
  'chain-id': { ...onEvm(), 'chain-id': ['1'] },
  contract: { ...onEvm(), contract: [publisher] },
  publisher: { ...onEvm(), publisher: [contract] },
  depth: { ...onEvm(), depth: ['100'] },
  node: { ...onOurs(), node: [evm] },
  chain: { ...onOurs(), chain: [other] },
})

/** What is met: all of it by the proof, and of the round what is no question to a chain. */
const met = (): Given => ({ box: ['a'], 'max-age': ['1d'], revoked: [write('nobody.json', '{"version":1,"keys":[]}')] })

describe.each([
  [
    'the proof of a score',
    proof,
    () => [{}, { certificate: [certificate] }, onEvm(), { ...onEvm(), depth: ['1'] }, onOurs()],
  ],
  ['a whole round', round, () => [{}]],
])(
  'touchstone ledger check of %s: an option that is taken is looked at',
  (_, content, asked: () => readonly Given[]) => {
    const file = write(content.format, JSON.stringify(content))
    const endOf = async (given: Given) =>
      (await runCommand(['ledger', 'check', file], { trust: [validator], ...given }, home)).exit

    test('every option has its place in the table', () => {
      expect([...optionsOf('ledger', 'check')].sort()).toEqual([...Object.keys(unmet()), 'json'].sort())
    })

    test('what is met is a yes, one by one and all at once', async () => {
      const single = Object.entries(met()).map(([option, values]) => ({ [option]: values }))
      const all = Object.assign({}, met(), ...asked()) as Given
      for (const given of [...asked(), ...single, { json: [] }, all])
        expect([given, await endOf(given)]).toEqual([given, 0])
    })

    test('what is not met is none, alone and beside anything that is', async () => {
      const beside = [...asked(), ...Object.entries(met()).map(([option, values]) => ({ [option]: values }))]
      for (const [option, given] of Object.entries(unmet()))
        for (const more of beside)
          expect([option, more, await endOf({ ...more, ...given })]).not.toEqual([option, more, 0])
    })

    test('what is refused says why, with its code, and what to do now', async () => {
      for (const [given, code] of [
        [{ trust: [other] }, 'UNKNOWN_SIGNER'],
        [{ box: ['c'] }, 'OTHER_BOX'],
        [{ 'max-age': ['1s'] }, 'TOO_OLD'],
      ] as const) {
        const { exit, stdout } = await runCommand(['ledger', 'check', file], { trust: [validator], ...given }, home)
        expect([code, exit, stdout]).toEqual([
          code,
          1,
          expect.stringMatching(new RegExp(`^refused: .+ \\[${code}\\]\nnext: .+\\.\n`)),
        ])
      }
    })

    test('attack 294: a node of ours is asked for a chain that its reader names, or not at all', async () => {
      expect(await endOf({ node: [ours] })).toBe(2)
      expect(await endOf({ chain: [chain] })).toBe(2)
    })
  },
)
