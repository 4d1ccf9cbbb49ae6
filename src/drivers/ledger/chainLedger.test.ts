import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ledgerSuite } from '../../../test/suites/ledgerSuite.ts'
import { NodeWorld } from '../../../test/support/chainNodes.ts'
import { madeUpRound } from '../../../test/support/madeUpRounds.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { library } from '../../../test/support/vrfLibrary.ts'
import { accessTo } from '../../apps/node/accessTo.ts'
import type { RunningNode } from '../../apps/node/node.ts'
import { devnetKeys } from '../../core/chain/devnetGenesis.ts'
import { signTx } from '../../core/chain/signTx.ts'
import { TransferType } from '../../core/chain/transactions/payloads.ts'
import type { ChainAccess } from '../../ports/chainAccess.ts'
import { chainLedger } from './chainLedger.ts'

const { signal } = new AbortController()
const signer = testSigner(7)

/** A devnet of one node, where the validator has an account with funds. */
async function devnet() {
  const world = new NodeWorld(1)
  const node = await world.start(0)
  const access = accessTo(node)
  const rich = devnetKeys(0, library.vrf).signer
  const payload = TransferType.serialize({ to: signer.publicKey, amount: 10n ** 12n })
  const terms = await access.terms(signal)
  expect(await access.submit(signTx(rich, { kind: 0, nonce: 0n, payload }, terms), signal)).toBeNull()
  await world.pass(5)
  return { world, node, access }
}

ledgerSuite('our own chain', async () => {
  const { world, node, access } = await devnet()
  return { open: () => chainLedger(access, signer), settle: () => world.pass(8), end: () => node.close() }
})

describe('a round on our own chain', () => {
  let made: { world: NodeWorld; node: RunningNode; access: ChainAccess }
  beforeAll(async () => {
    made = await devnet()
  })
  afterAll(() => made.node.close())

  test('what was sent waits for its block, and is made anew only when its time is over', async () => {
    const { world, access } = made
    const sent: Uint8Array[] = []
    // A node that takes a transaction and forgets it.
    const submit = async (tx: Uint8Array) => {
      sent.push(tx)
      return null
    }
    const forgetful: ChainAccess = { ...access, submit }
    const ledger = chainLedger(forgetful, signer)
    const round = madeUpRound(1)
    await ledger.publish(round, signal)
    for (let slot = 0; slot < 9; slot++) {
      await world.pass(1)
      expect(await ledger.publish(round, signal)).toMatchObject({ kind: 'pending' })
    }
    expect(sent).toHaveLength(1)
    await world.pass(3)
    await ledger.publish(round, signal)
    expect(sent).toHaveLength(2)
  })

  test('who has no account to pay from is told, and asked again later', async () => {
    const poor = chainLedger(made.access, testSigner(11))
    await expect(poor.publish(madeUpRound(1), signal)).rejects.toMatchObject({
      detail: { code: 'LEDGER_REFUSED' },
      retry: true,
    })
  })
})
