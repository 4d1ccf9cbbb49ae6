import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { proveScore, sealRound } from '../../src/core/ledger/roundRecord.ts'
import { evmLedger } from '../../src/drivers/ledger/evm/evmLedger.ts'
import { hasAnvil, NO_ANVIL, RICH, startAnvil } from '../support/anvil.ts'
import { openCommandLine } from '../support/commandLine.ts'
import { commandsOn } from '../support/guide.ts'
import { madeUpRound } from '../support/madeUpRounds.ts'
import { skipWith } from '../support/skipWith.ts'
import { testSigner } from '../support/testSigner.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-ledger-'))
const line = openCommandLine({ ...process.env, TOUCHSTONE_HOME: folder, NO_COLOR: '1' })
afterAll(async () => {
  await line.close()
  rmSync(folder, { recursive: true, force: true })
})

const SECRET = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const guide = commandsOn('docs/guides/operator.md')
const newWallet = guide.find(([name]) => name === 'wallet')!
const [deploy, fromUrl, onChain] = guide.filter(([name]) => name === 'ledger') as [string[], string[], string[]]
const write = (name: string, content: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
  return path
}

const round = madeUpRound(9)
const proof = proveScore(round, 'box-1')!
const { validator } = round
const check = (content: unknown, ...flags: string[]) =>
  line.run(['ledger', 'check', write('proof.json', content), ...flags])

test('a key that others can read, or that is none, is refused before any node is asked', async () => {
  const words = ['ledger', 'deploy', '--rpc', 'http://127.0.0.1:9', '--chain-id', '1', '--key']
  const key = write('plain.key', SECRET)
  chmodSync(key, 0o644)
  expect(await line.run([...words, key])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('LEDGER_KEY_EXPOSED'),
  })
  chmodSync(key, 0o600)
  expect(await line.run([...words, key])).toMatchObject({ stderr: expect.stringContaining('LEDGER_UNREACHABLE') })
  const none = write('none.key', '00'.repeat(32))
  expect(await line.run([...words, none])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('LEDGER_BAD_KEY'),
  })
})

describe('touchstone ledger check', () => {
  test('takes a proof and a whole round of a validator that is trusted, from a file and from a URL', async () => {
    const one = await check(proof, '--trust', validator)
    expect(one).toMatchObject({ status: 0, stdout: expect.stringContaining('box-1: 1001 by 00000') })
    expect(one.stdout).toContain('not asked of any chain')
    const whole = await check(round, '--trust', validator, '--json')
    expect(JSON.parse(whole.stdout)).toMatchObject({ problem: null, round: 9, scores: round.entries, onChain: false })
    const server = createServer((_, answer) => answer.end(JSON.stringify(proof)))
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const words = fromUrl.map((word) => word.replace('127.0.0.1:8787', address).replace(/^KEY$/, validator))
    expect(await line.run(words)).toMatchObject({ status: 0, stdout: one.stdout })
    server.close()
  })

  test.each<[string, unknown, string]>([
    ['another score', { ...proof, entry: { ...proof.entry, score: 7 } }, 'PATH'],
    ['another signer', sealRound({ ...round, entries: round.entries }, testSigner(8)), 'UNKNOWN_SIGNER'],
    ['a field more', { ...proof, extra: 1 }, 'NOT_A_PROOF'],
    ['no JSON', 'score: 7', 'NOT_A_PROOF'],
    ['a path that is too long', { ...proof, path: Array(17).fill('00'.repeat(32)) }, 'NOT_A_PROOF'],
  ])('refuses %s', async (_, content, code) => {
    expect(await check(content, '--trust', validator)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining(`[${code}]`),
    })
  })

  describe('attack 188: a proof that holds and is not what its reader asked for', () => {
    const now = (): number => Date.now()
    const closed = (closedAtMs: number) => sealRound({ ...round, closedAtMs }, testSigner(7))
    const ended = (status: object) => write('ended.json', { version: 1, keys: [{ key: validator, ...status }] })
    const since = new Date(1_600_000_000_000).toISOString()
    const later = new Date(1_800_000_000_000).toISOString()

    test.each<[string, () => unknown, () => readonly string[], string]>([
      [
        'by a key that was revoked',
        () => proof,
        () => ['--revoked', ended({ status: 'revoked', since })],
        'SIGNER_REVOKED',
      ],
      ['of another box', () => proof, () => ['--box', 'box-2'], 'OTHER_BOX'],
      ['of a round without the box', () => round, () => ['--box', 'box-9'], 'OTHER_BOX'],
      ['of a round that is old', () => proof, () => ['--max-age', '1d'], 'TOO_OLD'],
      ['of a time to come', () => closed(now() + 3_600_000), () => [], 'FROM_THE_FUTURE'],
      ['of no time', () => closed(Number.MAX_SAFE_INTEGER), () => [], 'NOT_A_PROOF'],
    ])('refuses one %s', async (_, content, flags, code) => {
      expect(await check(content(), '--trust', validator, ...flags())).toMatchObject({
        status: 1,
        stdout: expect.stringContaining(`[${code}]`),
      })
    })

    test('revoked.json beside the keys of the reader counts without being named', async () => {
      const own = write('revoked.json', { version: 1, keys: [{ key: validator, status: 'revoked', since }] })
      expect(await check(proof, '--trust', validator)).toMatchObject({ status: 1 })
      rmSync(own)
      expect(await check(proof, '--trust', validator)).toMatchObject({ status: 0 })
    })

    test('a key that was revoked later establishes nothing', async () => {
      const doubted = await check(proof, '--trust', validator, '--revoked', ended({ status: 'revoked', since: later }))
      expect(doubted).toMatchObject({ status: 4, stdout: expect.stringContaining('[SIGNER_REVOKED_SINCE]') })
    })

    test('attack 366: a list that is named gives trust to nobody; a successor in his own counts, and is told as one', async () => {
      const key = toHex(testSigner(8).publicKey)
      const rotated = { version: 1, keys: [{ key, status: 'rotated', since, successor: validator }] }
      expect(await check(proof, '--trust', key, '--revoked', write('ended.json', rotated))).toMatchObject({
        ...{ status: 1, stdout: expect.stringContaining('[UNKNOWN_SIGNER]') },
      })
      const own = write('revoked.json', rotated)
      const [text, json] = [await check(proof, '--trust', key), await check(proof, '--trust', key, '--json')]
      rmSync(own)
      expect(text).toMatchObject({ status: 0, stdout: expect.stringContaining(`by ${validator}, successor of ${key}`) })
      expect(JSON.parse(json.stdout)).toMatchObject({ validator, successorOf: key })
    })

    test('what is asked for is shown', async () => {
      const fresh = closed(now())
      const asked = await check(fresh, '--trust', validator, '--box', 'box-1', '--max-age', '1d', '--json')
      expect(JSON.parse(asked.stdout)).toMatchObject({
        problem: null,
        closedAt: new Date(fresh.closedAtMs).toISOString(),
        scores: [{ box: 'box-1', score: 1001 }],
      })
    })
  })

  test('attack 341: a proof with a second score, which other readers may show, is none', async () => {
    const file = write('twice.json', JSON.stringify(proof).replace('"score":', '"score":7,"score":'))
    const { status, stdout } = await line.run(['ledger', 'check', file, '--trust', validator, '--json'])
    expect([status, JSON.parse(stdout).problem]).toEqual([1, 'NOT_A_PROOF'])
  })

  test('compares the certificate, and says what it needs to ask a chain', async () => {
    const other = write('certificate.json', 'another')
    const refused = await check(proof, '--trust', validator, '--certificate', other)
    expect(refused).toMatchObject({ status: 1, stdout: expect.stringContaining('[OTHER_CERTIFICATE]') })
    const half = await check(proof, '--trust', validator, '--rpc', 'http://127.0.0.1:1')
    expect(half).toMatchObject({ status: 2, stderr: expect.stringContaining('--publisher') })
  })
})

if (hasAnvil)
  test('the guide makes the contract, and a score that was published there is confirmed by it', async () => {
    const anvil = await startAnvil()
    try {
      const key = write('evm.key', `${SECRET}\n`)
      const password = ['--password-file', write('password', 'correct horse')]
      expect(await line.run([...newWallet, '--from', key, ...password])).toMatchObject({ status: 0 })
      const wallet = join(folder, 'wallets', 'publisher.json')
      const kept = '~/.local/share/touchstone/wallets/publisher.json'
      const here = (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
        words.map(
          (word) => ({ 'http://127.0.0.1:8545': anvil.url, [kept]: wallet, KEY: validator, ...more })[word] ?? word,
        )
      const made = await line.run([...here(deploy), ...password, '--json'])
      const { contract, publisher } = JSON.parse(made.stdout) as Record<string, string>
      expect(made.stdout + made.stderr).not.toContain(SECRET.slice(0, 16))
      const settings = { urls: [anvil.url], chainId: 31_337, maxFeeGwei: 100, final: 'finalized' as const }
      await evmLedger({ ...settings, contract: contract! }, RICH).publish(round, new AbortController().signal)
      const file = write('proof.json', proof)
      const words = here(onChain, { 'proof.json': file })
      words.splice(words.indexOf('--contract') + 1, 1, contract!)
      words.splice(words.indexOf('--publisher') + 1, 1, publisher!)
      expect(await line.run(words)).toMatchObject({ status: 1, stdout: expect.stringContaining('[NOT_PUBLISHED]') })
      await anvil.call('anvil_mine', '0x4')
      expect(await line.run(words)).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('the chain confirms it'),
      })
      expect(await line.run(here(deploy, { [kept]: write('evm.key', 'no key') }))).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('LEDGER_BAD_KEY'),
      })
    } finally {
      await anvil.end()
    }
  })
else skipWith('the contract of the guide', NO_ANVIL)
