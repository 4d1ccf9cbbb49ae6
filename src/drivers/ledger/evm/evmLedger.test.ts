import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ledgerSuite } from '../../../../test/suites/ledgerSuite.ts'
import { type Anvil, deployedOn, hasAnvil, NO_ANVIL, RICH, startAnvil } from '../../../../test/support/anvil.ts'
import { madeUpRound } from '../../../../test/support/madeUpRounds.ts'
import { skipWith } from '../../../../test/support/skipWith.ts'
import { proveScore } from '../../../core/ledger/roundRecord.ts'
import { evmAccount } from './evmAccount.ts'
import { type EvmSettings, evmLedger, evmWitness } from './evmLedger.ts'

const { signal } = new AbortController()
const code = (name: string) => ({ detail: { code: name } })

if (hasAnvil) {
  ledgerSuite('EVM', async () => {
    const anvil = await startAnvil()
    const settings = await deployedOn(anvil)
    return {
      open: () => evmLedger(settings, RICH),
      settle: async () => void (await anvil.call('anvil_mine', '0x4')),
      end: () => anvil.end(),
    }
  })
  againstRealNode()
} else skipWith('a ledger on an EVM chain', NO_ANVIL)

/** What a chain may do to a transaction, on a real one. */
function againstRealNode(): void {
  describe('attack 169: an EVM chain', () => {
    let anvil: Anvil
    let settings: EvmSettings
    beforeAll(async () => {
      anvil = await startAnvil()
      settings = await deployedOn(anvil)
    })
    afterAll(() => anvil?.end())
    const mine = (blocks: number) => anvil.call('anvil_mine', `0x${blocks.toString(16)}`)
    const nonce = async () => Number(await anvil.call('eth_getTransactionCount', RICH.address, 'latest'))

    test('a reorganisation takes the round out of its block: it is sent again, and counts only when it is final', async () => {
      const ledger = evmLedger(settings, RICH)
      const round = madeUpRound(101)
      expect(await ledger.publish(round, signal)).toMatchObject({
        kind: 'pending',
        why: expect.stringContaining('sent'),
      })
      expect(await ledger.publish(round, signal)).toMatchObject({
        kind: 'pending',
        why: expect.stringContaining('block'),
      })
      await anvil.call('anvil_reorg', 1, [])
      await anvil.call('anvil_dropAllTransactions')
      expect(await evmWitness(settings, RICH.address)(proveScore(round, 'box-0')!, signal)).toBe(false)
      expect(await ledger.publish(round, signal)).toMatchObject({
        kind: 'pending',
        why: expect.stringContaining('sent'),
      })
      await mine(4)
      expect(await ledger.publish(round, signal)).toMatchObject({ kind: 'published' })
    })

    test('a nonce gap in the pool keeps nothing back: the round takes the nonce that is next', async () => {
      await anvil.call('evm_setAutomine', false)
      const before = await nonce()
      const call = { chainId: 31_337n, maxPriorityFee: 10n ** 9n, maxFee: 10n ** 10n, gas: 21_000n, data: '0x' }
      const far = RICH.sign({ ...call, nonce: BigInt(before + 3), to: RICH.address })
      await anvil.call('eth_sendRawTransaction', far.raw)
      const ledger = evmLedger(settings, RICH)
      const round = madeUpRound(102)
      await ledger.publish(round, signal)
      await mine(4)
      await anvil.call('evm_setAutomine', true)
      expect(await ledger.publish(round, signal)).toMatchObject({ kind: 'published' })
      expect(await nonce()).toBe(before + 1)
    })

    test('one that no block takes is replaced for more, by the same nonce, and paid for once', async () => {
      await anvil.call('evm_setAutomine', false)
      const before = await nonce()
      const ledger = evmLedger(settings, RICH)
      const round = madeUpRound(103)
      const sent = [await ledger.publish(round, signal), await ledger.publish(round, signal)]
      expect(new Set(sent.map((step) => (step.kind === 'pending' ? step.why : step.kind))).size).toBe(2)
      await mine(4)
      await anvil.call('evm_setAutomine', true)
      expect(await ledger.publish(round, signal)).toMatchObject({ kind: 'published' })
      expect(await nonce()).toBe(before + 1)
    })

    test('without funds, above the price that is allowed, without a contract, on another chain: each says so', async () => {
      const round = madeUpRound(104)
      const poor = evmAccount(new Uint8Array(32).fill(9))
      const tries: readonly [EvmSettings, typeof RICH, string][] = [
        [settings, poor, 'LEDGER_NO_FUNDS'],
        [{ ...settings, maxFeeGwei: 0.000001 }, RICH, 'LEDGER_TOO_DEAR'],
        [{ ...settings, contract: poor.address }, RICH, 'LEDGER_NO_CONTRACT'],
        [{ ...settings, chainId: 1 }, RICH, 'LEDGER_WRONG_CHAIN'],
      ]
      for (const [changed, account, name] of tries)
        await expect(evmLedger(changed, account).publish(round, signal)).rejects.toMatchObject({
          ...code(name),
          retry: true,
        })
    })

    test('a round is final by blocks on top where the chain has no word for it', async () => {
      const ledger = evmLedger({ ...settings, final: 2 }, RICH)
      const round = madeUpRound(105)
      await ledger.publish(round, signal)
      expect(await ledger.publish(round, signal)).toMatchObject({ kind: 'pending' })
      await mine(2)
      expect(await ledger.publish(round, signal)).toMatchObject({ kind: 'published' })
    })

    test('an RPC that lies alone publishes nothing: all nodes must agree', async () => {
      const round = madeUpRound(106)
      const liar = await nodeThat((_, { method }) =>
        method === 'eth_chainId' ? '0x7a69' : method === 'eth_call' ? `0x${round.root}` : '0x1',
      )
      expect(await evmLedger({ ...settings, urls: [liar] }, RICH).publish(round, signal)).toMatchObject({
        kind: 'published',
      })
      const both = evmLedger({ ...settings, urls: [settings.urls[0]!, liar] }, RICH)
      await expect(both.publish(round, signal)).rejects.toMatchObject(code('LEDGER_DISAGREES'))
      const witness = evmWitness({ ...settings, urls: [settings.urls[0]!, liar] }, RICH.address)
      expect(await witness(proveScore(round, 'box-0')!, signal)).toBe(false)
    })
  })
}

type Asked = { readonly method: string }

/** A node that answers as it likes. */
async function nodeThat(answers: (text: string, asked: Asked) => unknown): Promise<string> {
  return await serverThat((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    request.on('end', () =>
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answers(text, JSON.parse(text)) })),
    )
  })
}

async function serverThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3/secret`
}

describe('attack 169: a hostile RPC', () => {
  const at = (url: string): EvmSettings => ({
    urls: [url],
    chainId: 31_337,
    contract: RICH.address,
    maxFeeGwei: 100,
    final: 'finalized',
  })
  const publish = (url: string, stop = signal) => evmLedger(at(url), RICH).publish(madeUpRound(1), stop)

  test('an answer without end is cut off', async () => {
    let written = 0
    let closed: Promise<unknown> = Promise.resolve()
    const url = await serverThat((_, response) => {
      closed = once(response, 'close')
      const chunk = Buffer.alloc(64 * 1024, '1')
      const push = () => {
        do written += chunk.length
        while (written < 2 ** 28 && response.write(chunk))
      }
      response.on('drain', push)
      push()
    })
    await expect(publish(url)).rejects.toMatchObject({ ...code('LEDGER_UNREACHABLE'), retry: true })
    await closed
    expect(written).toBeLessThan(2 ** 25)
  })

  test('one that hangs is left when the caller leaves', async () => {
    const stop = new AbortController()
    const url = await serverThat(() => stop.abort(new Error('enough')))
    await expect(publish(url, stop.signal)).rejects.toThrow('enough')
  })

  test('it sends us nowhere else', async () => {
    const url = await serverThat((_, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end())
    await expect(publish(url)).rejects.toMatchObject(code('LEDGER_UNREACHABLE'))
  })

  test.each([
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['a list', '[]'],
    ['null', 'null'],
    ['no result', '{"jsonrpc":"2.0","id":1}'],
    ['a number that is not one', '{"result":7}'],
    ['a number with zeros before it', '{"result":"0x007a69"}'],
    ['a huge number', `{"result":"0x${'f'.repeat(100)}"}`],
    ['an object', '{"result":{"__proto__":{"a":1}}}'],
  ])('%s is no answer', async (_, text) => {
    const url = await serverThat((_, response) => response.end(text))
    await expect(publish(url)).rejects.toMatchObject(code('LEDGER_UNREACHABLE'))
  })

  test('what it says is shown short and plain, and the secret in its address is not', async () => {
    const message = `\u001b[2J${'x'.repeat(5000)}`
    const url = await serverThat((_, response) => response.end(JSON.stringify({ error: { message } })))
    const error = (await publish(url).catch((caught: unknown) => caught)) as Error
    expect(error).toMatchObject(code('LEDGER_REFUSED'))
    expect(error.message).not.toContain('\u001b')
    expect(error.message).not.toContain('secret')
    expect(error.message.length).toBeLessThan(300)
  })
})
