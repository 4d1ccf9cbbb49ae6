#!/usr/bin/env node
// What it costs to publish a round on an EVM chain, and to check one score there. Run
//   node scripts/build.mjs && node bench/ledger.mjs
// Gas is exact and the same on every machine; anvil (a development dependency) is the EVM.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { signerFrom } from '../dist/core/bytes/ed25519.js'
import { proveScore, sealRound } from '../dist/core/ledger/roundRecord.js'
import { deployRounds } from '../dist/drivers/ledger/evm/deployRounds.js'
import { evmAccount } from '../dist/drivers/ledger/evm/evmAccount.js'
import { evmLedger } from '../dist/drivers/ledger/evm/evmLedger.js'
import { isPublishedCall, publishCall } from '../dist/drivers/ledger/evm/roundsContract.js'
import { systemClock } from '../dist/drivers/system/systemClock.js'
import { keepResult } from './support/keepResult.mjs'

const machine = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
const folder = createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${machine}/package.json`)
const anvil = spawn(folder.replace('package.json', 'bin/anvil'), ['--port', '0', '--slots-in-an-epoch', '1'])
const url = await new Promise((resolve) => {
  let said = ''
  anvil.stdout.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-4096)
    const found = /Listening on (\S+)\n/.exec(said)
    if (found) resolve(`http://${found[1]}`)
  })
})
const call = async (method, ...params) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  const { result, error } = await answer.json()
  if (error) throw new Error(error.message)
  return result
}

/** The gas of a call that changes nothing, without what every transaction pays for itself and its data. */
const estimate = async (from, to, data) => Number(await call('eth_estimateGas', { from, to, data }))
const dataGas = (data) =>
  [...Buffer.from(data.slice(2), 'hex')].reduce((gas, byte) => gas + (byte === 0 ? 4 : 16), 21_000)

const { signal } = new AbortController()
// The first account that anvil gives funds to; its key is public.
const rich = evmAccount(Buffer.from('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80', 'hex'))
const settings = { urls: [url], chainId: 31_337, maxFeeGwei: 100, final: 'finalized' }
const { contract, transaction } = await deployRounds(settings, rich, systemClock, signal)
const gasOf = async (hash) => Number((await call('eth_getTransactionReceipt', hash)).gasUsed)
const rows = { deployGas: await gasOf(transaction) }

const signer = signerFrom(new Uint8Array(32).fill(7))
const ledger = evmLedger({ ...settings, contract }, rich)
for (const [round, boxes] of [
  [1, 256],
  [2, 1],
  [3, 65_536],
]) {
  const entries = Array.from({ length: boxes }, (_, i) => ({
    box: `box-${i}`,
    score: 1000 + i,
    certificate: 'ab'.repeat(32),
  }))
  const record = sealRound({ round, closedAtMs: 1_700_000_000_000, entries }, signer)
  const { why } = await ledger.publish(record, signal)
  const publish = await gasOf(why.replace('sent as ', ''))
  await call('anvil_mine', '0x4')
  if ((await ledger.publish(record, signal)).kind !== 'published') throw new Error('not published')
  const proof = proveScore(record, `box-${boxes >> 1}`)
  if (!(await ledger.confirms(proof, signal))) throw new Error('not confirmed')
  const data = isPublishedCall(rich.address, proof)
  const whole = await estimate(rich.address, contract, data)
  const again = await estimate(rich.address, contract, publishCall(round, record.root))
  rows[`boxes${boxes}`] = {
    publish,
    publishAgain: again,
    check: whole,
    checkInContract: whole - dataGas(data),
    pathLength: proof.path.length,
  }
}
anvil.kill('SIGKILL')
console.log(JSON.stringify(keepResult('ledger', 'node bench/ledger.mjs', rows), null, 2))
