import { expect, test } from 'vitest'
import { ledgerSuite } from '../../../test/suites/ledgerSuite.ts'
import { accountNamed } from '../../../test/support/chainWorld.ts'
import { inProcessChain, standInSigner } from '../../../test/support/inProcessChain.ts'
import { madeUpRound } from '../../../test/support/madeUpRounds.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { chainLedger } from './chainLedger.ts'

const { signal } = new AbortController()
const signer = standInSigner(testSigner(7).publicKey)
const chainOf = () => inProcessChain([accountNamed('ada'), accountNamed('', { key: signer.publicKey })])

ledgerSuite('our own chain', async () => {
  const { access, block } = await chainOf()
  const settle = async () => {
    await block()
    await block(true)
  }
  return { open: () => chainLedger(access, signer), settle, end: async () => {} }
})

test('what was sent waits for its block, and is made anew when its time is over', async () => {
  const { access, block, waiting } = await chainOf()
  const ledger = chainLedger(access, signer)
  const round = madeUpRound(1)
  await ledger.publish(round, signal)
  expect(await ledger.publish(round, signal)).toMatchObject({ kind: 'pending' })
  expect(waiting).toHaveLength(1)
  // No author takes it until its last slot has passed.
  waiting.length = 0
  for (let slot = 0; slot < 10; slot++) await block()
  expect(await ledger.publish(round, signal)).toMatchObject({ kind: 'pending' })
  expect(waiting).toHaveLength(0)
  await block()
  await ledger.publish(round, signal)
  expect(waiting).toHaveLength(1)
})

test('who cannot pay is told, and asked again later', async () => {
  const { access } = await inProcessChain([accountNamed('ada')])
  await expect(chainLedger(access, signer).publish(madeUpRound(1), signal)).rejects.toMatchObject({
    detail: { code: 'LEDGER_REFUSED' },
    retry: true,
  })
})
