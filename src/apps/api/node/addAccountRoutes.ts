import type { OpenAPIHono } from '@hono/zod-openapi'
import { fromHex, toHex } from '../../../core/bytes/hex.ts'
import { type ChainState, findAccount, findBox, located } from '../../../core/chain/chainState.ts'
import type { LightProof } from '../../../core/chain/lightProof.ts'
import { type EntryPath, proveEntry } from '../../../core/chain/proveEntry.ts'
import { balanceOf, nonceAt, nonceOf } from '../../../core/chain/purse.ts'
import { valuesOf } from '../../../core/chain/stateType.ts'
import type { ChainNode } from '../../../ports/chainNode.ts'
import { found, problem } from '../problem.ts'
import { headerOf, placeOf } from './addBlockRoutes.ts'
import type { NodeApiDeps } from './createNodeApi.ts'
import { nodeRoutes } from './nodeRoutes.ts'

export function addAccountRoutes(app: OpenAPIHono, { node }: NodeApiDeps): void {
  app.openapi(nodeRoutes.getAccount, async (c) => {
    const key = fromHex(c.req.valid('param').key, 32)!
    const { state, block } = await stateAt(node, c.req.valid('query').at)
    const place = placeIn(state, key)
    return c.json({ ...toldAccount(state, key, place), block, nextNonce: String(await node.nextNonce(key)) }, 200)
  })
  app.openapi(nodeRoutes.getAccountProof, async (c) => {
    const { state, block } = await stateAt(node, c.req.valid('query').at)
    const place = placeIn(state, fromHex(c.req.valid('param').key, 32)!)
    const prove = (column: string, at: number) => proofOf(state, ['accounts', column, at])
    const proofs = { key: prove('key', place), purse: prove('purse', nonceAt(place)) }
    const rounds = { round: prove('round', place), roundRoot: prove('roundRoot', place) }
    return c.json({ block, header: await headerOf(node, block.id), place, ...proofs, ...rounds }, 200)
  })
  app.openapi(nodeRoutes.getBoxScore, async (c) => {
    const { key } = c.req.valid('param')
    const { state, block } = await stateAt(node, c.req.valid('query').at)
    return c.json({ box: key, block, header: await headerOf(node, block.id), ...toldBox(state, key) }, 200)
  })
  app.openapi(nodeRoutes.submitTransaction, async (c) => {
    const { transaction } = c.req.valid('json')
    const result = await node.submit(fromHex(transaction, transaction.length / 2)!)
    if (result.kind !== 'refused') return c.json({ id: result.id, isNew: result.kind === 'taken' }, 200)
    const { code, where } = result.problem
    throw problem(409, code, `the chain would refuse it, because of ${where}`, 'See docs/spec/chain.md §3.9.')
  })
}

/** A state and the block that made it: read together, since the head moves on while we wait. */
export async function stateAt(node: ChainNode, at: 'head' | 'final') {
  const state = at === 'head' ? await node.headState() : await node.finalState()
  return { state, block: placeOf(found(await node.facts(toHex(state.head)), 'block')) }
}

function placeIn(state: ChainState, key: Uint8Array): number {
  const place = findAccount(located(state), key)
  return found(place === -1 ? null : place, 'account')
}

type Power = 'drilled' | 'drilledTotal' | 'failed' | 'trained'

function toldAccount({ view: { accounts } }: ChainState, key: Uint8Array, place: number) {
  const of = (column: 'bond' | 'stake' | 'deposit' | 'locked' | Power | 'capacity' | 'round') =>
    String(accounts[column].get(place))
  return {
    account: toHex(key),
    place,
    nonce: String(nonceOf(accounts, place)),
    balance: String(balanceOf(accounts, place)),
    ...{ bond: of('bond'), stake: of('stake'), deposit: of('deposit'), locked: of('locked') },
    ...{ drilled: of('drilled'), drilledTotal: of('drilledTotal'), failed: of('failed') },
    ...{ trained: of('trained'), capacity: of('capacity'), round: of('round') },
    roundRoot: toHex(accounts.roundRoot.get(place)),
  }
}

function toldBox(state: ChainState, key: string) {
  const { view, boxPlaces } = state
  const at = findBox({ state: view, boxPlaces }, fromHex(key, 32)!)
  const place = found(at === -1 ? null : at, 'box')
  const box = view.boxes.getReadonly(place)
  const keyOf = (account: number) => toHex(view.accounts.key.get(account))
  return {
    place,
    account: box.account === 0 ? null : keyOf(box.account - 1),
    score: String(box.score),
    capacity: String(box.capacity),
    reports: valuesOf(box.reports).map(({ validator, epoch, score, certificate }) => ({
      ...{ validator: keyOf(validator), epoch: String(epoch), score: String(score), certificate: toHex(certificate) },
    })),
    keyProof: proofOf(state, ['boxes', place, 'key']),
    scoreProof: proofOf(state, ['boxes', place, 'score']),
  }
}

const proofOf = (state: ChainState, path: EntryPath) => toldProof(proveEntry(state, path))

const toldProof = ({ leaf, witnesses }: LightProof) => ({ leaf: toHex(leaf), witnesses: witnesses.map(toHex) })
