import { ChainNode } from '../../src/apps/node/chainNode.ts'
import { equalBytes } from '../../src/core/bytes/bytes.ts'
import type { Signer } from '../../src/core/bytes/ed25519.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { type ChainState, findAccount, located } from '../../src/core/chain/chainState.ts'
import { genesisState } from '../../src/core/chain/genesisState.ts'
import { genesisHash } from '../../src/core/chain/genesisType.ts'
import { problem } from '../../src/core/chain/problems.ts'
import { balanceOf, nonceOf } from '../../src/core/chain/purse.ts'
import { decodeExactly, encodeBlock, type Tx, TxType } from '../../src/core/chain/ssz.ts'
import { openMemoryChain } from '../../src/drivers/chainStore/openChainStore.ts'
import type { AccountView, ChainAccess } from '../../src/ports/chainAccess.ts'
import * as world from './chainWorld.ts'

/** A signer whose signatures are the stand-ins of the chain of tests. */
export const standInSigner = (publicKey: Uint8Array): Signer => ({
  publicKey,
  sign: (message) => world.signAs(publicKey, message),
})

/** A node in this process, and all that makes its blocks: one a call. */
export async function inProcessChain(accounts: Parameters<typeof world.genesisOf>[0]) {
  const genesis = world.genesisOf(accounts)
  const store = await openMemoryChain(toHex(genesisHash(genesis)))
  const node = await ChainNode.open({ genesis, store, checks: world.standIns, slotNow: () => 10_000 })
  const states: ChainState[] = [genesisState(genesis)]
  const waiting: Tx[] = []
  const head = () => states.at(-1)!
  /** One block with what waits; it records that its parent is final where asked. */
  const block = async (isFinalising = false): Promise<void> => {
    const commit = isFinalising ? [world.commitOfHead(head())] : []
    const made = world.make(head(), waiting.splice(0), undefined, commit)
    if ('problem' in made) throw new Error(`${made.problem.code} ${made.problem.where}`)
    const [imported] = await node.importChain([encodeBlock(made.block)])
    if (imported!.kind !== 'added') throw new Error(imported!.kind)
    states.push(made.state)
  }
  const finalState = () => {
    const { hash } = head().view.final
    return states.find((state) => equalBytes(state.head, hash))!
  }
  const access: ChainAccess = {
    async terms() {
      const { genesisHash: hash, params, view } = head()
      return { genesisHash: hash, feePerByte: params.feePerByte, epochSlots: params.epochSlots, slot: view.slot }
    },
    async account(key, at) {
      return viewOf(at === 'head' ? head() : finalState(), key)
    },
    async submit(bytes) {
      const tx = decodeExactly(TxType, bytes)!
      const rival = waiting.find(({ account, nonce }) => nonce === tx.nonce && equalBytes(account, tx.account))
      if (rival !== undefined) return problem('NONCE', 'nonce')
      const made = world.make(head(), [tx])
      if ('problem' in made) return made.problem
      waiting.push(tx)
      return null
    },
  }
  return { access, node, block, waiting, genesis }
}

function viewOf(state: ChainState, key: Uint8Array): AccountView | null {
  const place = findAccount(located(state), key)
  if (place === -1) return null
  const { accounts } = state.view
  const [nonce, balance] = [nonceOf(accounts, place), balanceOf(accounts, place)]
  return { nonce, balance, round: accounts.round.get(place), roundRoot: accounts.roundRoot.get(place) }
}
