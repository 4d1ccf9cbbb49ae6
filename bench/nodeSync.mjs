#!/usr/bin/env node
// A node with an empty folder fetches a chain from one peer over libp2p, against the bare check of that chain's signatures and
// VRF proofs by libsodium. Run
//   node scripts/build.mjs && NODE_OPTIONS=--max-semi-space-size=64 node bench/nodeSync.mjs
// One block in four is primary, each has 5 transfers, one in ten records a commit. The peer is a process of its own. Start,
// network and disk are included. By the clock, and in processor time of the whole syncing process with its threads. Results go
// to bench/results/nodeSync.json.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BitArray } from '@chainsafe/ssz'
import sodium from 'sodium-native'
import { LocalChain } from '../dist/apps/node/localChain.js'
import { RunningNode } from '../dist/apps/node/node.js'
import { toHex } from '../dist/core/bytes/hex.js'
import { BY_BOOT_WEIGHT, makeBlock, SECONDARY } from '../dist/core/chain/applyBlock.js'
import { etaOf } from '../dist/core/chain/chainState.js'
import { genesisState } from '../dist/core/chain/genesisState.js'
import { encodeGenesis, genesisHash } from '../dist/core/chain/genesisType.js'
import { lotteryNumber, slotAlpha } from '../dist/core/chain/lottery.js'
import { CHAIN_PRESETS } from '../dist/core/chain/params.js'
import { headerMessage, txMessage, voteMessage } from '../dist/core/chain/signing.js'
import { eligibleIn, leaderThreshold, lotteryPlace } from '../dist/core/chain/snapshots.js'
import { encodeBlock } from '../dist/core/chain/ssz.js'
import { openChainStore } from '../dist/drivers/chainStore/openChainStore.js'
import { useFastTrees } from '../dist/drivers/hashtree/useFastTrees.js'
import { openLibp2pNetwork } from '../dist/drivers/p2p/libp2pNetwork.js'
import { openEnvelopeThread } from '../dist/drivers/sodium/openEnvelopeThread.js'
import { cpuMs, genesisFor, makeSigners, numbered, openSodium, sign, transfersOf } from './support/chainSigners.mjs'
import { keepResult } from './support/keepResult.mjs'

const BLOCKS = Number(process.env.BLOCKS ?? 10_000)
const ACCOUNTS = 1_000
const TRANSFERS = 5
const COMMIT_EVERY = 10
const TARGET = 0.6
const WAITING = 100

const { library, checks } = await openSodium()
const hasher = await useFastTrees()
const signers = makeSigners(ACCOUNTS)
const keys = signers.map(({ key }) => key)
const vrfKey = library.vrf.keyFrom(numbered(32, 7))
const params = CHAIN_PRESETS.mainnet
// Its last block is a few slots old. Both processes must name the same second.
const timeMs = BigInt(process.env.TIME_MS ?? Date.now() - (BLOCKS + 5) * Number(params.slotMs))
const genesis = genesisFor(keys, vrfKey, timeMs)
const genesisId = toHex(genesisHash(genesis))
const log = { debug() {}, info() {}, warn: console.error, error: console.error }
const options = { genesisId, genesisBytes: encodeGenesis(genesis), host: '127.0.0.1', port: 0, isDiscovering: false }
const clock = {
  monotonicUs: () => performance.now() * 1000,
  wallTime: () => new Date(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal.addEventListener('abort', onAbort, { once: true })
    }),
}
const startOn = async (folder, secret, bootstrap) => {
  const store = await openChainStore(folder, genesisId)
  const connect = (handlers) => openLibp2pNetwork({ ...options, secret: numbered(32, secret), bootstrap }, handlers)
  const checker = process.env.ONE_THREAD ? undefined : openEnvelopeThread(genesisHash(genesis))
  const node = await RunningNode.start({ genesis, store, checks, checker, clock, log, keys: null, connect })
  return { node, store }
}

if (process.argv[2] === 'serve') {
  const { node } = await startOn(process.argv[3], 101, [])
  process.send(node.addresses[0])
  await new Promise(() => {})
}

/** A commit of the one voter for the head, where the set in charge may decide about it. */
function commitOf({ view, head, genesisHash }) {
  const set = view.final.slot / params.epochSlots
  const blocks = [...view.blocks.getAllReadonlyValues(), { slot: view.slot, hash: head }]
  const isAllowed = ({ slot }, i) =>
    slot / params.epochSlots === set || (i > 0 && blocks[i - 1].slot / params.epochSlots === set)
  const target = blocks.filter(isAllowed).at(-1)
  if (target === undefined || target.slot <= view.final.slot) return []
  const fields = {
    set,
    round: target.slot / params.roundSlots + 1n,
    target: target.hash,
    targetSlot: target.slot,
    late: 0,
  }
  const vote = { ...fields, kind: 1, lockRound: fields.round, voter: signers[0].key }
  return [
    { ...fields, voters: BitArray.fromBoolArray([true]), sigs: [sign(signers[0], voteMessage(genesisHash, vote))] },
  ]
}

/** The chain in a folder, and all that a node has to check of it. */
async function makeChain(folder) {
  const store = await openChainStore(folder, genesisId)
  const local = await LocalChain.open({ genesis, store, checks, slotNow: () => 2 ** 31, stateEvery: 1_000 })
  const toCheck = { signatures: [], proofs: [] }
  const { next, transfer } = transfersOf(signers, keys, genesisHash(genesis))
  const trusting = { ...checks, envelopesChecked: true, key: () => true }
  let state = genesisState(genesis)
  let row = []
  for (let height = 1; height <= BLOCKS; height++) {
    const slot = BigInt(height)
    const epoch = slot / params.epochSlots
    const txs = Array.from({ length: TRANSFERS }, () => transfer(next(ACCOUNTS), slot))
    const commit = height % COMMIT_EVERY === 0 ? commitOf(state) : []
    const { total } = eligibleIn(state.view, epoch)
    const { weight } = lotteryPlace(state.view, epoch, 0)
    const alpha = slotAlpha(state.genesisHash, etaOf(state.view, epoch), slot)
    const wins = lotteryNumber(vrfKey.evaluate(alpha)) < leaderThreshold(params)(weight, total)
    const kind = BY_BOOT_WEIGHT + (wins ? 0 : SECONDARY)
    const vrfProof = wins ? vrfKey.prove(alpha) : new Uint8Array(80)
    const draft = { slot, author: signers[0].key, kind, vrfProof, body: { txs, commit } }
    const made = makeBlock(state, draft, (message) => sign(signers[0], message), trusting)
    if ('problem' in made) throw new Error(JSON.stringify(made.problem))
    const { header } = made.block
    toCheck.signatures.push([header.sig, headerMessage(state.genesisHash, header), header.author])
    for (const tx of txs) toCheck.signatures.push([tx.sig, txMessage(state.genesisHash, tx), tx.account])
    for (const { sigs, ...fields } of commit) {
      const vote = { ...fields, kind: 1, lockRound: fields.round, voter: signers[0].key }
      toCheck.signatures.push([sigs[0], voteMessage(state.genesisHash, vote), signers[0].key])
    }
    if (wins) toCheck.proofs.push([vrfKey.publicKey, alpha, vrfProof])
    state = made.state
    row.push(encodeBlock(made.block))
    if (row.length < WAITING && height < BLOCKS) continue
    const results = await local.importChain(row, [])
    if (results.some((result) => result.kind !== 'added')) throw new Error(JSON.stringify(results.at(-1).problem))
    row = []
  }
  await store.close()
  return toCheck
}

const folder = mkdtempSync(join(tmpdir(), 'touchstone-node-sync-'))
const { signatures, proofs } = await makeChain(join(folder, 'a'))
console.log(`${BLOCKS} blocks made: ${signatures.length} signatures, ${proofs.length} proofs`)
const peer = fork(fileURLToPath(import.meta.url), ['serve', join(folder, 'a')], {
  env: { ...process.env, TIME_MS: String(timeMs) },
})
const [address] = await once(peer, 'message')

const [bareFrom, bareWallFrom] = [cpuMs(), performance.now()]
for (const [sig, message, key] of signatures)
  if (!sodium.crypto_sign_verify_detached(sig, message, key)) throw new Error('a signature is wrong')
for (const [key, alpha, proof] of proofs)
  if (library.vrf.verify(key, alpha, proof) === null) throw new Error('a proof is wrong')
const [bareMs, bareWallMs] = [cpuMs() - bareFrom, performance.now() - bareWallFrom]

const [from, wallFrom] = [cpuMs(), performance.now()]
const { node, store } = await startOn(join(folder, 'b'), 102, [address])
await new Promise((resolve) => {
  node.subscribe(() => node.head.height >= BLOCKS && resolve())
})
const [syncMs, wallMs] = [cpuMs() - from, performance.now() - wallFrom]
const final = node.final.height
await node.close()
await store.close()
peer.kill()
rmSync(folder, { recursive: true })
// By the clock: the signatures are checked on a second thread. In processor time: all threads together.
const [share, cpuShare] = [bareWallMs / wallMs, bareMs / syncMs]
console.log(
  `sync ${(wallMs / BLOCKS).toFixed(3)} ms a block (${Math.round((BLOCKS / wallMs) * 1000)} a second), bare checks ${(bareWallMs / BLOCKS).toFixed(3)} ms: ${(100 * share).toFixed(1)} % by the clock (target ${100 * TARGET} %), ${(100 * cpuShare).toFixed(1)} % in processor time; final ${final}`,
)
if (process.env.BLOCKS === undefined)
  keepResult('nodeSync', 'NODE_OPTIONS=--max-semi-space-size=64 node bench/nodeSync.mjs', {
    ...{ hasher, library: library.name, blocks: BLOCKS, syncMs: syncMs / BLOCKS, bareMs: bareMs / BLOCKS },
    ...{
      syncWallMs: wallMs / BLOCKS,
      bareWallMs: bareWallMs / BLOCKS,
      cpuShare,
      share,
      target: { atLeast: TARGET },
      met: share >= TARGET,
    },
  })
process.exit()
