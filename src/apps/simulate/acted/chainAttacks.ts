import { taggedHash } from '../../../core/bytes/sha256.ts'
import { u64be } from '../../../core/chain/bigEndian.ts'
import { etaOf } from '../../../core/chain/chainState.ts'
import { lotteryNumber, slotAlpha } from '../../../core/chain/lottery.ts'
import { leaderThreshold } from '../../../core/chain/snapshots.ts'
import { boxAlpha, reportCommitment } from '../../../core/chain/transactions/boxes.ts'
import { possessionAlpha } from '../../../core/chain/transactions/money.ts'
import * as payloads from '../../../core/chain/transactions/payloads.ts'
import { atLeast, atMost, type Finding } from '../models/report.ts'
import { xoshiro } from '../xoshiro.ts'
import { ActedChain } from './actedChain.ts'
import type { AttackSetting } from './drillAttacks.ts'
import { type Judge, Judges } from './judges.ts'

const [VRF_KEY, LOCK, REPORT, REVEAL, PROJECT, PROJECT_VOTE, TASKS] = [1, 2, 6, 7, 8, 9, 10]
const PROJECT_BOND = 3
const SCORE = 1_000n
const WORK = 1_000_000n

/** To the first block of the next epoch. */
function endEpoch(chain: ActedChain): void {
  const { epochSlots } = chain.state.params
  chain.advance(chain.epoch * epochSlots + 3n)
  chain.advance((chain.epoch + 1n) * epochSlots)
}

/** Boxes of the score runs: always there, there three fifths of the time, a minute in two hours, never. */
const PRESENCE = [1, 0.6, 1 / 120, 0] as const
const ABSENT = 3

/** Eight validators, half of them liars with this share of the stake, who swear that the absent box is there. */
function scoresWith({ crypto, seed, epochs }: AttackSetting, liars: number) {
  const chance = xoshiro(`${seed}/scores`)
  const stakes = Array.from({ length: 8 }, (_, i) => BigInt(Math.round(25_000 * (i < 4 ? 2 * liars : 2 - 2 * liars))))
  const holdings = [{ drilled: 10n ** 9n }, ...stakes.map((stake) => ({ drilled: 0n, stake }))]
  const chain = new ActedChain({ crypto, seed: `${seed}/${liars}`, holdings, work: WORK })
  const see = (box: number) => (chance.unit() < PRESENCE[box]! ? SCORE : 0n)
  const judges = stakes.map((_, i): Judge => {
    const scoreOf = (box: number) => (i < 4 && box === ABSENT ? SCORE : see(box))
    // The last one commits, and never shows.
    return { account: 1 + i, scoreOf, reveals: i !== 7 }
  })
  const checks = new Judges(
    chain,
    judges,
    PRESENCE.map(() => ({ owner: 0, capacity: WORK })),
  )
  const sums = PRESENCE.map(() => 0)
  const warm = 60
  for (let i = 0; i < warm + epochs; i++) {
    checks.act()
    endEpoch(chain)
    if (i >= warm) for (const box of sums.keys()) sums[box]! += Number(checks.scoreOf(box)) / Number(SCORE) / epochs
  }
  const { bond, locked } = chain.state.view.accounts
  const earnedBy = (account: number) => {
    const place = chain.place(account)
    return Number(bond.get(place) + locked.get(place) - chain.state.params.bond)
  }
  return { scores: sums, withheld: earnedBy(8) / earnedBy(7), chain, checks }
}

/** Boxes that are not there, validators who lie about them, hold back or copy. */
export function scoring(setting: AttackSetting): Finding[] {
  const under = scoresWith(setting, 0.49)
  const over = scoresWith({ ...setting, epochs: Math.ceil(setting.epochs / 2) }, 0.6)
  return [
    atLeast('a box that is always there, 49 % of stake lies, one in 8 withholds: score', under.scores[0]!, 0.85),
    atMost('score of a spot instance: a box that is there a minute in two hours', under.scores[2]!, 0.02),
    atMost('a box that is there 60 % of the time', under.scores[1]!, 0.65),
    atMost('score collusion: a box that is never there, 49 % of stake lies for it', under.scores[ABSENT]!, 0),
    atLeast('over half of stake rules scores: never there, 60 % lie for it', over.scores[ABSENT]!, 0.8),
    atMost('withheld score reports: what it earns, over a validator that shows them', under.withheld, 0),
    atMost("a report with another's entries and signatures: taken", isCopyTaken(under.chain, under.checks) ? 1 : 0, 0),
  ]
}

/** Validator 2 is told beforehand what validator 1 will say, commits to the same entries, and shows them as its own. */
function isCopyTaken(chain: ActedChain, checks: Judges): boolean {
  const seen: Judge = { account: 1, scoreOf: () => SCORE }
  while (checks.reportOf(seen, chain.epoch).entries.length === 0) endEpoch(chain)
  const { epoch } = chain
  const { vrfKey } = chain.accounts[2]!
  const copy = { ...checks.reportOf(seen, epoch), vrfProof: vrfKey.prove(boxAlpha(etaOf(chain.state.view, epoch))) }
  const commitment = reportCommitment(chain.keyOf(2), copy)
  chain.send(2, REPORT, payloads.ReportType.serialize({ epoch, commitment }))
  endEpoch(chain)
  return chain.refusal(2, REVEAL, payloads.RevealType.serialize(copy)) === null
}

/** A project of its own, voted for by 45 % of the weight. */
export function washDrilling({ crypto, seed }: AttackSetting): Finding[] {
  const holdings = [{ drilled: 45n * 10n ** 7n }, { drilled: 55n * 10n ** 7n }]
  const chain = new ActedChain({ crypto, seed: `${seed}/wash`, holdings, work: WORK })
  const washer = chain.accounts.findIndex((_, account) => holdings[account]!.drilled === 45n * 10n ** 7n)
  const bond = payloads.LockType.serialize({ purpose: PROJECT_BOND, amount: chain.state.params.projectBond })
  chain.send(washer, LOCK, bond)
  const proposal = { ...payloads.ProposalType.defaultValue(), work: WORK, depth: 4 }
  chain.send(washer, PROJECT, payloads.ProposalType.serialize(proposal))
  chain.advance(1n)
  chain.send(washer, PROJECT_VOTE, payloads.ProjectVotePayloadType.serialize({ project: 1, utility: 4 }))
  for (let i = 0; i < 5; i++) endEpoch(chain)
  const isRefused = chain.refusal(washer, TASKS, payloads.TasksType.serialize({ project: 1, count: 1 })) === 'PROJECT'
  return [atMost('wash drilling: tasks of a project that 45 % of weight voted for', isRefused ? 0 : 1, 0)]
}

/** The best of many keys by the randomness that is known, registered; and how it does once it may be used. */
export function keyChoice({ crypto, seed, epochs }: AttackSetting): Finding[] {
  const chain = new ActedChain({
    crypto,
    seed: `${seed}/keys`,
    holdings: [{ drilled: 10n ** 9n }, { drilled: 0n }],
    work: WORK,
  })
  const { params, genesisHash } = chain.state
  const limit = leaderThreshold(params)(1n, 2n)
  const winsOf = (key: { evaluate(alpha: Uint8Array): Uint8Array }, epoch: bigint) => {
    const eta = etaOf(chain.state.view, epoch)
    const slots = Array.from({ length: Number(params.epochSlots) }, (_, i) => epoch * params.epochSlots + BigInt(i))
    return slots.filter((slot) => lotteryNumber(key.evaluate(slotAlpha(genesisHash, eta, slot))) < limit).length
  }
  for (let i = 0; i < 4; i++) endEpoch(chain)
  const keys = Array.from({ length: 256 }, (_, i) => crypto.vrf.keyFrom(taggedHash('simulate/grind', u64be(BigInt(i)))))
  const known = (key: (typeof keys)[number]) => winsOf(key, chain.epoch) + winsOf(key, chain.epoch + 1n)
  const best = keys.reduce((most, key) => (known(key) > known(most) ? key : most))
  const expected = Number(params.epochSlots) * (1 - 0.75 ** 0.5)
  const gained = known(best) / (2 * expected)
  const proof = best.prove(possessionAlpha(chain.keyOf(1)))
  chain.send(1, VRF_KEY, payloads.VrfKeyType.serialize({ key: best.publicKey, proof }))
  endEpoch(chain)
  const from = chain.state.view.accounts.vrfFrom.get(chain.place(1))
  while (chain.epoch < from) endEpoch(chain)
  let wins = 0
  for (let i = 0; i < epochs; i++) {
    wins += winsOf(best, chain.epoch)
    endEpoch(chain)
  }
  const spread = 3 / Math.sqrt(epochs * expected)
  return [
    atLeast('grinding keys: blocks of the best of 256 by what is known, over the usual', gained, 1.5),
    atMost('the same in the epochs in which it may be used', wins / (epochs * expected), 1 + spread),
  ]
}
