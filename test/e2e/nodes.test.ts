import { expect, test } from 'vitest'
import { askBlocks } from '../../src/apps/node/askPeer.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { decodeBlock } from '../../src/core/chain/blockBytes.ts'
import { TxType } from '../../src/core/chain/ssz.ts'
import { eventually } from '../support/eventually.ts'
import { NodeNetwork } from '../support/nodeNetwork.ts'

test('four processes: lottery, finality over libp2p, a kill, a partition, a late joiner, and a payment that stays', async () => {
  const network = await NodeNetwork.open(250)
  for (const number of [0, 1, 2, 3]) network.start(number)
  const all = [0, 1, 2, 3]
  await network.untilFinal(all, 3)

  let heard = 0
  const onMessage = async () => {
    heard++
    return 'ignore' as const
  }
  const visitor = await network.visitor({ onMessage })
  // Who is connected may not listen yet; who talks to us does.
  await eventually(() => heard > 0)
  const payment = await network.pay(visitor, 9, 0)

  await network.nodes[3]!.kill()
  await network.untilFinal([0, 1, 2], network.finalOf([0, 1, 2]) + 2)
  network.start(3)
  network.start(4)
  await network.untilFinal([...all, 4], network.finalOf([0, 1, 2]) + 1)

  network.part(true)
  const [left, right] = [network.nodes[0]!, network.nodes[2]!]
  const heads = [left.head, right.head] as const
  await Promise.all([left.until(() => left.head > heads[0] + 1), right.until(() => right.head > heads[1] + 1)])
  network.part(false)
  await network.untilFinal([...all, 4], Math.max(left.head, right.head))
  expect(network.conflicts()).toEqual([])
  expect(network.nodes.flatMap(({ told }) => told.filter(({ event }) => event === 'error'))).toEqual([])
  expect(left.told.some(({ isPrimary }) => isPrimary)).toBe(true)

  const blocks = (await askBlocks(visitor, visitor.peers()[0]!, 1))!.map((bytes) => decodeBlock(bytes)!)
  const final = blocks.slice(0, network.finalOf(all))
  // Validators report beside it.
  const paid = final.flatMap(({ body }) => body.txs.filter(({ kind }) => kind === 0))
  expect(paid.map((tx) => toHex(TxType.serialize(tx)))).toEqual([toHex(payment)])
})
