import { type ChainState, findAccount, located } from '../../core/chain/chainState.ts'
import { balanceOf, nonceOf } from '../../core/chain/purse.ts'
import type { AccountView, ChainAccess } from '../../ports/chainAccess.ts'
import type { ChainNode } from '../../ports/chainNode.ts'

/** A node in this process, as those see it who send transactions. */
export const accessTo = (node: ChainNode): ChainAccess => ({
  async terms() {
    const { genesisHash, params, view } = await node.headState()
    return { genesisHash, feePerByte: params.feePerByte, epochSlots: params.epochSlots, slot: view.slot }
  },
  async account(key, at) {
    return accountView(at === 'head' ? await node.headState() : await node.finalState(), key)
  },
  async submit(tx) {
    const result = await node.submit(tx)
    return result.kind === 'refused' ? result.problem : null
  },
})

/** What a state says of an account, or null. */
export function accountView(state: ChainState, key: Uint8Array): AccountView | null {
  const place = findAccount(located(state), key)
  if (place === -1) return null
  const { accounts } = state.view
  return {
    nonce: nonceOf(accounts, place),
    balance: balanceOf(accounts, place),
    round: accounts.round.get(place),
    roundRoot: accounts.roundRoot.get(place),
  }
}
