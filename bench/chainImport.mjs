#!/usr/bin/env node
// Blocks of 1,000 signed transfers taken by a node on one core, against the bare check of as many signatures. Run
//   node scripts/build.mjs && node --max-semi-space-size=64 bench/chainImport.mjs
// Import is everything from bytes to disk: decoding, signatures, lottery, transition, both roots, one durable write a block,
// and one whole state in the run. Processor time of the whole process, its threads and the collection of garbage included.
// Results go to bench/results/chainImport.json.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sodium from 'sodium-native'
import { LocalChain } from '../dist/apps/node/localChain.js'
import { toHex } from '../dist/core/bytes/hex.js'
import { BY_BOOT_WEIGHT, makeBlock, SECONDARY } from '../dist/core/chain/applyBlock.js'
import { etaOf } from '../dist/core/chain/chainState.js'
import { genesisState } from '../dist/core/chain/genesisState.js'
import { lotteryNumber, slotAlpha } from '../dist/core/chain/lottery.js'
import { txMessage } from '../dist/core/chain/signing.js'
import { eligibleIn, leaderThreshold } from '../dist/core/chain/snapshots.js'
import { encodeBlock } from '../dist/core/chain/ssz.js'
import { openChainStore } from '../dist/drivers/chainStore/openChainStore.js'
import { useFastTrees } from '../dist/drivers/hashtree/useFastTrees.js'
import { cpuMs, genesisFor, makeSigners, numbered, openSodium, sign, transfersOf } from './support/chainSigners.mjs'
import { keepResult } from './support/keepResult.mjs'

const ACCOUNTS = 100_000
// A key is looked at when it first signs, which costs nearly as much as a signature: in the warm-up all of them do.
const SENDERS = 5_000
const TRANSFERS = 1_000
const WARM_UP = 10
// One whole state is written every 100 blocks.
const BLOCKS = Number(process.argv[2] ?? 100)
const TARGET = 0.55

const { library, checks } = await openSodium()
const hasher = await useFastTrees()
const signers = makeSigners(SENDERS)
const vrfKey = library.vrf.keyFrom(numbered(32, 7))
const keys = Array.from({ length: ACCOUNTS }, (_, i) => signers[i]?.key ?? numbered(32, i))
const genesis = genesisFor(keys, vrfKey, 0n)

/** The blocks of an author that follows its own chain: primary where it wins, as bytes. */
function makeChain() {
  let state = genesisState(genesis)
  const { genesisHash, params } = state
  const { next, transfer } = transfersOf(signers, keys, genesisHash)
  // Their author trusts its own signatures.
  const trusting = { ...checks, envelopesChecked: true, key: () => true }
  return Array.from({ length: WARM_UP + BLOCKS }, (_, height) => {
    const slot = BigInt(height + 1)
    const senders = Array.from({ length: TRANSFERS }, (_, i) =>
      height < WARM_UP ? (height * TRANSFERS + i) % SENDERS : next(SENDERS),
    )
    const body = { txs: senders.map((sender) => transfer(sender, slot)), commit: [] }
    const { total } = eligibleIn(state.view, 0n)
    const alpha = slotAlpha(genesisHash, etaOf(state.view, 0n), slot)
    const wins = lotteryNumber(vrfKey.evaluate(alpha)) < leaderThreshold(params)(total, total)
    const kind = BY_BOOT_WEIGHT + (wins ? 0 : SECONDARY)
    const draft = { slot, author: keys[0], kind, vrfProof: wins ? vrfKey.prove(alpha) : new Uint8Array(80), body }
    const made = makeBlock(state, draft, (message) => sign(signers[0], message), trusting)
    if ('problem' in made) throw new Error(JSON.stringify(made.problem))
    state = made.state
    return { bytes: encodeBlock(made.block), txs: body.txs, genesisHash }
  })
}

/** Milliseconds of processor time for each block: of the import, and of the bare check of its transfers right after it. */
async function measure(chain, node) {
  let [importMs, bareMs] = [0, 0]
  for (const [i, { bytes, txs, genesisHash }] of chain.entries()) {
    const from = cpuMs()
    const result = await node.importBlock(bytes)
    const until = cpuMs()
    if (result.kind !== 'added') throw new Error(JSON.stringify(result))
    const messages = txs.map((tx) => txMessage(genesisHash, tx))
    const bareFrom = cpuMs()
    for (const [at, { sig, account }] of txs.entries())
      if (!sodium.crypto_sign_verify_detached(sig, messages[at], account)) throw new Error('a signature is wrong')
    if (i < WARM_UP) continue
    importMs += until - from
    bareMs += cpuMs() - bareFrom
  }
  return { importMs: importMs / BLOCKS, bareMs: bareMs / BLOCKS }
}

const chain = makeChain()
const folder = mkdtempSync(join(tmpdir(), 'touchstone-chain-import-'))
const store = await openChainStore(folder, toHex(chain[0].genesisHash))
const node = await LocalChain.open({ genesis, store, checks, slotNow: () => 2 ** 31 })
const { importMs, bareMs } = await measure(chain, node)
await store.close()
rmSync(folder, { recursive: true })
const share = bareMs / importMs
console.log(
  `${TRANSFERS} signed transfers, ${ACCOUNTS} accounts: ${importMs.toFixed(1)} ms a block, bare signatures ${bareMs.toFixed(1)} ms: ${(100 * share).toFixed(1)} % (target ${(100 * TARGET).toFixed(0)} %)`,
)
const judged = { share, target: { atLeast: TARGET }, met: share >= TARGET }
const rates = {
  perSecond: Math.round((TRANSFERS / importMs) * 1000),
  barePerSecond: Math.round((TRANSFERS / bareMs) * 1000),
}
if (process.argv[2] === undefined)
  keepResult('chainImport', 'node --max-semi-space-size=64 bench/chainImport.mjs', {
    ...{ hasher, library: library.name, blocks: BLOCKS, importMs, bareMs, ...rates, ...judged },
  })
