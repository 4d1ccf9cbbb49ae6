#!/usr/bin/env node
// Blocks of 1,000 transfers without signatures among 100,000 accounts on one core, all checks and roots included. Run
//   node scripts/build.mjs && node --max-semi-space-size=64 bench/chainTransition.mjs [--wasm]
// (a block makes some 13,000 nodes that stay: with small young spaces V8 copies each of them twice)
// Processor time, so that other work on the machine does not pass for ours. Results go to bench/results/chainTransition.json.
import { applyBlock, BY_BOOT_WEIGHT, makeBlock, SECONDARY } from '../dist/core/chain/applyBlock.js'
import { genesisState, stateRoot } from '../dist/core/chain/genesisState.js'
import { CHAIN_PRESETS } from '../dist/core/chain/params.js'
import { bodyRoot } from '../dist/core/chain/signing.js'
import { BodyType } from '../dist/core/chain/ssz.js'
import { TransferType } from '../dist/core/chain/transactions/payloads.js'
import { useFastTrees } from '../dist/drivers/hashtree/useFastTrees.js'
import { keepResult } from './support/keepResult.mjs'

const ACCOUNTS = 100_000
const TRANSFERS = 1_000
const BLOCKS = 40
const WARM_UP = 10
const TARGET = 60_000

const bytesOf = (length, number) => {
  const bytes = new Uint8Array(length)
  // Spread, so that neighbours in the tree are not neighbours in a block.
  new DataView(bytes.buffer).setUint32(0, Math.imul(number + 1, 0x9e3779b1) >>> 0)
  new DataView(bytes.buffer).setUint32(8, number)
  return bytes
}
const none = { balance: 10n ** 12n, bond: 0n, stake: 0n, vrfKey: new Uint8Array(32), drilled: 0n, trained: 0n }
const keys = Array.from({ length: ACCOUNTS }, (_, i) => bytesOf(32, i))
const genesis = {
  ...{ preset: 'mainnet', timeMs: 0n, params: CHAIN_PRESETS.mainnet },
  etas: [1, 2, 3].map((n) => new Uint8Array(32).fill(n)),
  accounts: keys.map((key, i) =>
    i === 0 ? { ...none, key, bond: 10n ** 12n, vrfKey: bytesOf(32, 7) } : { ...none, key },
  ),
  ...{ authorities: [keys[0]], project: { work: 1n, depth: 1 } },
}
const checks = {
  signature: () => true,
  envelopesChecked: true,
  vrf: () => new Uint8Array(64),
  key: () => true,
  patch: () => true,
}

let seed = 12345
const next = (below) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}
const nonces = new Map()
function transferFrom(sender, slot) {
  const nonce = nonces.get(sender) ?? 0n
  nonces.set(sender, nonce + 1n)
  const payload = TransferType.serialize({ to: keys[next(ACCOUNTS)], amount: BigInt(1 + next(1000)) })
  const sigs = { sig: new Uint8Array(64), payerSig: [] }
  const fee = 173_000n
  return {
    kind: 0,
    account: keys[sender],
    nonce,
    fee,
    lastSlot: slot + 5n,
    payer: [],
    payload,
    ...sigs,
  }
}

/** The blocks of an author that follows its own chain. */
function makeChain() {
  let state = genesisState(genesis)
  return Array.from({ length: WARM_UP + BLOCKS }, (_, height) => {
    const slot = BigInt(height + 1)
    const body = { txs: Array.from({ length: TRANSFERS }, () => transferFrom(next(ACCOUNTS), slot)), commit: [] }
    const draft = { slot, author: keys[0], kind: SECONDARY + BY_BOOT_WEIGHT, vrfProof: new Uint8Array(80), body }
    const made = makeBlock(state, draft, () => new Uint8Array(64), checks)
    if ('problem' in made) throw new Error(JSON.stringify(made.problem))
    state = made.state
    return made.block
  })
}

/** Milliseconds that each block takes a node which follows that chain. */
function follow(blocks) {
  let state = genesisState(genesis)
  stateRoot(state)
  state.view.accounts.purse.getAll()
  return blocks.map((block) => {
    const from = process.cpuUsage()
    const applied = applyBlock(state, block, checks)
    const { user, system } = process.cpuUsage(from)
    if ('problem' in applied) throw new Error(JSON.stringify(applied.problem))
    state = applied.state
    return (user + system) / 1000
  })
}

/** Milliseconds for the body root as it is defined, and by a tree over the fields of each transaction (chain.md §3.2.3). */
function bodyRoots(blocks) {
  const msOf = (rootOf) => {
    for (const { body } of blocks.slice(0, WARM_UP)) rootOf(body)
    const from = process.cpuUsage()
    for (const { body } of blocks) rootOf(body)
    const { user, system } = process.cpuUsage(from)
    return (user + system) / 1000 / blocks.length
  }
  return { byHashesMs: msOf(bodyRoot), byFieldsMs: msOf((body) => BodyType.hashTreeRoot(body)) }
}

const isWasm = process.argv.includes('--wasm')
const hasher = isWasm ? 'as-sha256' : await useFastTrees()
const chain = makeChain()
const times = follow(chain).slice(WARM_UP)
// The mean, so that collecting garbage counts too; the median next to it is what most blocks take.
const ms = times.reduce((sum, each) => sum + each, 0) / BLOCKS
const medianMs = [...times].sort((a, b) => a - b)[BLOCKS >> 1]
const perSecond = Math.round((TRANSFERS / ms) * 1000)
const roots = bodyRoots(chain)
const judged = { perSecond, target: { atLeast: TARGET }, met: perSecond >= TARGET }
const result = { hasher, blocks: BLOCKS, ms, medianMs, ...judged, bodyRoot: roots }
console.log(
  `${TRANSFERS} transfers, ${ACCOUNTS} accounts, ${hasher}: ${ms.toFixed(1)} ms (median ${medianMs.toFixed(1)}), ${perSecond} a second (target ${TARGET})`,
)
console.log(
  `body root: ${roots.byHashesMs.toFixed(1)} ms by hashes of transactions, ${roots.byFieldsMs.toFixed(1)} ms by their fields`,
)
if (!isWasm) keepResult('chainTransition', 'node --max-semi-space-size=64 bench/chainTransition.mjs', result)
