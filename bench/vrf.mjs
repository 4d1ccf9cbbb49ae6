#!/usr/bin/env node
// The primitives of the chain on one core: VRF on its three libraries, signatures, threshold, decay of accounts. Run
//   node scripts/build.mjs && node bench/vrf.mjs
// A time is processor time, so that other work on the machine does not pass for ours. The libraries take turns, and a
// ratio is the middle of those of its turns: noise hits both sides. Results go to bench/results/vrf.json.
import { createHash } from 'node:crypto'
import { checkSignature, signerFrom, withFastYes } from '../dist/core/bytes/ed25519.js'
import { decayAndAdd, WEEKLY } from '../dist/core/chain/accounting.js'
import { ecvrf } from '../dist/core/chain/ecvrf.js'
import { nobleVrf } from '../dist/core/chain/nobleVrf.js'
import { thresholdFor } from '../dist/core/chain/threshold.js'
import { openNative } from '../dist/drivers/sodium/openNative.js'
import { openWasm } from '../dist/drivers/sodium/openWasm.js'
import { sodiumPoints } from '../dist/drivers/sodium/sodiumPoints.js'
import { opensslCheck } from '../dist/drivers/system/nativeSigner.js'
import { keepResult } from './support/keepResult.mjs'

const TURNS = 15
const rows = []
const seeded = (label) => new Uint8Array(createHash('sha256').update(`vrf bench ${label}`).digest())
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]

function report(what, figure, unit, target = null, more = {}) {
  const met = target === null ? null : target.atMost === undefined ? figure >= target.atLeast : figure <= target.atMost
  rows.push({ what, figure, unit, target, met, ...more })
}

/** Milliseconds of processor time that one call of `work` takes. */
function cost(times, work) {
  const from = process.cpuUsage()
  for (let i = 0; i < times; i++) work(i)
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1000 / times
}

/** All contenders in turns; the times of each. */
function compete(contenders, times, work) {
  const taken = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]))
  for (let turn = -1; turn < TURNS; turn++)
    for (const [name, contender] of Object.entries(contenders)) {
      const ms = cost(times(name), (i) => work(contender, i))
      if (turn >= 0) taken[name].push(ms)
    }
  return taken
}

const native = await openNative()
const wasm = await openWasm()
const libraries = {
  'sodium-native': ecvrf(sodiumPoints(native)),
  'sodium-wasm': ecvrf(sodiumPoints(wasm)),
  noble: nobleVrf,
}
const few = (name) => (name === 'noble' ? 10 : 40)

function vrf() {
  const proofs = Array.from({ length: 40 }, (_, i) => {
    const key = nobleVrf.keyFrom(seeded(`key ${i}`))
    const alpha = seeded(`alpha ${i}`)
    return { publicKey: key.publicKey, alpha, proof: key.prove(alpha) }
  })
  const verified = compete(libraries, few, (library, i) => {
    const { publicKey, alpha, proof } = proofs[i]
    if (library.verify(publicKey, alpha, proof) === null) throw new Error('a good proof was refused')
  })
  for (const [name, ms] of Object.entries(verified)) report(`VRF verify, ${name}`, median(ms), 'ms')
  const ratios = (name) => verified.noble.map((ms, turn) => ms / verified[name][turn])
  report('VRF verify, noble / sodium-native', median(ratios('sodium-native')), 'x', { atLeast: 4 })
  report('VRF verify, noble / sodium-wasm', median(ratios('sodium-wasm')), 'x')
  const keys = Object.fromEntries(Object.entries(libraries).map(([name, each]) => [name, each.keyFrom(seeded('mine'))]))
  for (const call of ['prove', 'evaluate'])
    for (const [name, ms] of Object.entries(compete(keys, few, (key, i) => key[call](proofs[i].alpha))))
      report(`VRF ${call}, ${name}`, median(ms), 'ms')
}

function signatures() {
  const signer = signerFrom(seeded('signer'))
  const signed = Array.from({ length: 100 }, (_, i) => ({ message: seeded(i), signature: signer.sign(seeded(i)) }))
  const checks = {
    'sodium-native': withFastYes(native.checkSignature),
    'node:crypto': withFastYes(opensslCheck),
    'sodium-wasm': withFastYes(wasm.checkSignature),
    noble: checkSignature,
  }
  const taken = compete(
    checks,
    (name) => (name === 'noble' ? 20 : 100),
    (check, i) => {
      if (!check(signed[i].signature, signed[i].message, signer.publicKey))
        throw new Error('a good signature was refused')
    },
  )
  for (const [name, ms] of Object.entries(taken)) report(`signatures by the rule, ${name}`, 1000 / median(ms), '1/s')
}

function threshold() {
  const above = thresholdFor({ numerator: 1n, denominator: 4n })
  const total = 10n ** 18n + 9n
  const weights = Array.from({ length: 500 }, (_, i) => (total * BigInt(i + 1)) / 500n)
  const taken = compete(
    { threshold: weights },
    () => 500,
    (all, i) => above(all[i], total),
  )
  report('threshold T(w, W), f = 1/4', median(taken.threshold), 'ms', { atMost: 0.1 })
}

/** Rates of 10^6 to 10^17 µut a day; one account in ten worked in the epoch. */
function decay() {
  const COUNT = 100_000
  const rates = Array.from({ length: COUNT }, (_, i) => BigInt(i + 1) ** 3n * 1_000_003n)
  const epoch = () => {
    for (let i = 0; i < COUNT; i++) rates[i] = decayAndAdd(rates[i], i % 10 === 0 ? 1_000_000n : 0n, WEEKLY)
  }
  const taken = compete(
    { decay: epoch },
    () => 1,
    (work) => work(),
  )
  report('decay and add, 100,000 accounts', median(taken.decay), 'ms', { atMost: 37 })
}

vrf()
signatures()
threshold()
decay()

const number = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3))
for (const { what, figure, unit, target, met } of rows) {
  const bound = target
    ? `  target ${target.atLeast ? `>= ${target.atLeast}` : `<= ${target.atMost}`}  ${met ? 'met' : 'MISSED'}`
    : ''
  console.log(`${what.padEnd(44)} ${number(figure).padStart(8)} ${unit}${bound}`)
}
keepResult('vrf', 'node bench/vrf.mjs', { rows })
process.exitCode = rows.every(({ met }) => met !== false) ? 0 : 1
