import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { proveScore, sealRound } from '../../src/core/ledger/roundRecord.ts'
import { chainLedger } from '../../src/drivers/ledger/chainLedger.ts'
import { NodeClient } from '../../src/main/chain/nodeClient.ts'
import { openCommandLine } from '../support/commandLine.ts'
import { commandsOn } from '../support/guide.ts'
import { NodeProcess } from '../support/nodeProcess.ts'
import { testSigner } from '../support/testSigner.ts'

const home = mkdtempSync(join(tmpdir(), 'touchstone-chain-'))
const line = openCommandLine({ ...process.env, TOUCHSTONE_HOME: home, NO_COLOR: '1' })
let node: NodeProcess
let url = ''
beforeAll(async () => {
  node = new NodeProcess(['--data', join(home, 'node'), '--port', '0'], true)
  await node.until(() => node.final > 2)
  url = (node.told.find(({ event }) => event === 'started') as unknown as { api: string }).api
})
afterAll(async () => {
  await line.close()
  await node.kill('SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

const password = () => {
  writeFileSync(join(home, 'password'), 'correct horse\n', { mode: 0o600 })
  return ['--password-file', join(home, 'password')]
}
const guide = commandsOn('docs/guides/operator.md').filter(
  ([name, sub]) => ['chain', 'faucet'].includes(name!) || (name === 'wallet' && sub !== 'new'),
)
const run = (words: readonly string[]) =>
  line.run([...words, '--node', url, ...(words[1] === 'send' ? password() : [])])

test('the guide makes a wallet, fills it, pays from it and sees the payment final', async () => {
  expect(guide.map(([name, sub]) => (name === 'faucet' ? name : sub))).toEqual([
    'head',
    'faucet',
    'send',
    'account',
    'block',
  ])
  const [head, faucet, send, account, block] = guide as [string[], string[], string[], string[], string[]]
  expect((await run(head)).stdout).toMatch(/^chain +[0-9a-f]{64} \(devnet\)\nhead +\d+, slot/)
  expect(await line.run(['wallet', 'new', ...password()])).toMatchObject({ status: 0 })
  expect(await run(faucet)).toMatchObject({ status: 0, stdout: expect.stringContaining('1000 tokens for') })
  expect(await run(send)).toMatchObject({ status: 0, stdout: expect.stringContaining(': final') })
  expect(await run(account)).toMatchObject({ status: 0, stdout: expect.stringMatching(/balance +12\.5 tokens\n/) })
  expect(await run(block)).toMatchObject({ status: 0, stdout: expect.stringMatching(/height +\d+, final\n/) })
  writeFileSync(join(home, 'wrong'), 'else else else\n')
  const wrong = await line.run([...send, '--node', url, '--password-file', join(home, 'wrong')])
  expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('WRONG_PASSWORD') })
})

test('a round is published on the chain of a running node, over HTTP', async () => {
  const signer = testSigner(31)
  const faucet = await line.run(['faucet', toHex(signer.publicKey), '--wait', '--node', url])
  expect(faucet).toMatchObject({ status: 0 })
  const record = sealRound({ round: 4, closedAtMs: 5, entries: [{ box: 'a', score: 3, certificate: null }] }, signer)
  const ledger = chainLedger(new NodeClient(url), signer)
  const { signal } = new AbortController()
  expect(await ledger.publish(record, signal)).toMatchObject({ kind: 'pending' })
  const before = node.final
  await node.until(() => node.final > before + 8)
  expect(await ledger.publish(record, signal)).toMatchObject({ kind: 'published' })
  const file = join(home, 'proof.json')
  const chain = toHex((await new NodeClient(url).terms(signal)).genesisHash)
  const asked = ['--trust', toHex(signer.publicKey), '--node', url, '--chain', chain]
  const check = () => line.run(['ledger', 'check', file, ...asked])
  writeFileSync(file, JSON.stringify(proveScore(record, 'a')))
  expect(await check()).toMatchObject({ status: 0, stdout: expect.stringContaining('by the word of the node') })
  const another = sealRound({ ...record, entries: [{ box: 'a', score: 9, certificate: null }] }, signer)
  writeFileSync(file, JSON.stringify(proveScore(another, 'a')))
  expect(await check()).toMatchObject({ status: 1, stdout: expect.stringContaining('[NOT_PUBLISHED]') })
})
