import { expect, test } from 'vitest'
import { testSigner } from '../../../test/support/testSigner.ts'
import type { ChainState } from '../../core/chain/chainState.ts'
import { decodeTx } from '../../core/chain/ssz.ts'
import type { ChainNode } from '../../ports/chainNode.ts'
import { Sender } from './sender.ts'

const state = { genesisHash: new Uint8Array(32), params: { feePerByte: 1n, epochSlots: 10n } } as ChainState

test.each([
  [40, 49n],
  [47, 49n],
  [49, 49n],
])('what is said in slot %i ends with its epoch: later it would keep back what comes after it', async (slot, last) => {
  const sent: Uint8Array[] = []
  const node = {
    status: () => ({ slot }),
    isWaiting: (tx: Uint8Array) => sent.includes(tx),
    nextNonce: async () => 3n,
    submit: async (tx: Uint8Array) => ({ kind: 'taken', id: String(sent.push(tx)) }),
  } as unknown as ChainNode
  const sender = new Sender(node, testSigner(1))
  for (let times = 0; times < 2; times++)
    expect(await sender.send(state, { kind: 12, payload: new Uint8Array(3) }, 'commit')).toBeNull()
  expect(sent.map((tx) => decodeTx(tx)?.lastSlot)).toEqual([last])
})
