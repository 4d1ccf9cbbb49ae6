import { type ChainParams, DAY } from '../../../core/chain/params.ts'
import { atLeast, atMost, type Finding } from '../models/report.ts'
import type { SimulatedCrypto } from '../standIns.ts'
import type { Drilling } from './drillers.ts'
import { type Drilled, type DrillingRun, runDrilling } from './runDrilling.ts'

export interface AttackSetting {
  readonly crypto: SimulatedCrypto
  readonly seed: string
  /** Epochs that are counted, more or less. */
  readonly epochs: number
}

const honest: Drilling = { name: 'honest' }
/** Claims more live operations than there are: a difference that no opening finds, so that it can go on for ever. */
const inflate: Drilling = { name: 'inflate', live: 65_535 }
const withhold: Drilling = { name: 'withhold', reveals: false }
const absent: Drilling = { name: 'absent', commits: false }
const late: Drilling = { name: 'late', commitsAfter: 1 }
const forge: Drilling = { name: 'forge', lie: () => 'forge' }

const ways = (count: number, ...some: readonly (readonly [number, Drilling])[]): Drilling[] => {
  const named = some.flatMap(([many, way]) => Array.from({ length: many }, () => way))
  return [...named, ...Array.from({ length: count - named.length }, () => honest)]
}

/** Never a pair: three replicas, as the formulas have it. */
const THREE: Partial<ChainParams> = { trustedStreak: 1n << 40n }

const weightOf = (accounts: readonly Drilled[], name: string): number =>
  accounts.filter(({ way }) => way === name).reduce((sum, { weight }) => sum + Number(weight), 0)
const sumOf = (accounts: readonly Drilled[], name: string | null, of: 'credits' | 'replicas' | 'ever'): number =>
  accounts.filter(({ way }) => name === null || way === name).reduce((sum, each) => sum + each[of], 0)
const uncredited = ({ accounts }: DrillingRun, name: string | null): number =>
  1 - sumOf(accounts, name, 'credits') / sumOf(accounts, name, 'replicas')
const sigma = (share: number, tasks: number): number => Math.sqrt((share * (1 - share)) / Math.max(1, tasks))

/** 5 % of capacity answers otherwise than all others. */
export function griefing({ crypto, seed, epochs }: AttackSetting): Finding[] {
  const base = { crypto, ways: ways(20, [1, inflate]) }
  const strict = runDrilling({ ...base, seed: `${seed}/strict`, epochs, params: { ...THREE, strictDrilling: 1n } })
  // A task with two results takes 36 epochs, and the first were drawn six epochs before.
  const usual = runDrilling({ ...base, seed: `${seed}/usual`, epochs: epochs + 24, params: THREE })
  const expected = 1 - 0.95 ** 3
  const noise = 3 * sigma(expected, strict.tasks.length)
  const took = usual.tasks.map((task) => task.epochs).sort((a, b) => a - b)
  return [
    atMost('griefing by 5 %, strict: share of tasks voided', uncredited(strict, null), expected + noise),
    atLeast('the same, at least', uncredited(strict, null), expected - noise),
    atMost('griefing by 5 %, default: share of honest replicas without credit', uncredited(usual, 'honest'), 0.01),
    atMost('inflated live share: replicas of the inflater with credit', 1 - uncredited(usual, 'inflate'), 0),
    atMost('griefing by 5 %, default: epochs until half of the tasks are over', took[took.length >> 1]!, 6),
    atMost('the same: epochs until the last of them is over', took.at(-1)!, 6 + 3 * 6 + Number(DAY) + 6),
  ]
}

/** Those who hold back what they have committed to, who never commit, and who commit as late as they may. */
export function withholding({ crypto, seed, epochs }: AttackSetting): Finding[] {
  const some = ways(20, [1, withhold], [1, absent], [6, late])
  const run = runDrilling({ crypto, seed: `${seed}/withhold`, ways: some, newFrom: 0, epochs, params: THREE })
  const rateOf = (name: string) => weightOf(run.accounts, name) / sumOf(run.accounts, name, 'ever')
  return [
    atMost('withheld reveals: replicas of the withholder with credit', 1 - uncredited(run, 'withhold'), 0),
    atMost('replicas that are kept away: with credit', 1 - uncredited(run, 'absent'), 0),
    atMost('both, 5 % of capacity each: honest replicas without credit', uncredited(run, 'honest'), 0.01),
    // One epoch of decay less: 2^(1/168) is 1.0041.
    atMost(
      'hoarded credit: weight for a task that is committed as late as it may be, over one at once',
      rateOf('late') / rateOf('honest'),
      1.01,
    ),
  ]
}

/** A third of capacity agrees on one wrong leaf in every task; whoever is right appeals. */
export function forging({ crypto, seed, epochs }: AttackSetting): Finding[] {
  const run = runDrilling({
    crypto,
    seed: `${seed}/forge`,
    ways: ways(18, [6, forge]),
    epochs,
    params: THREE,
  })
  const all = sumOf(run.accounts, null, 'replicas')
  const allowed = 1 / 27
  return [
    atMost(
      'forging by a third: share of all replicas that were credited for it',
      sumOf(run.accounts, 'forge', 'credits') / all,
      allowed + 3 * sigma(allowed, run.tasks.length),
    ),
    atMost('the same: honest replicas without credit', uncredited(run, 'honest'), 0.01),
  ]
}

/** A fifth of capacity in one account and a fifth in four; and a pool that computes each task once for all its accounts. */
export function sharing({ crypto, seed, epochs }: AttackSetting): Finding[] {
  const capacities = [4, ...Array.from({ length: 16 }, () => 1)]
  const run = runDrilling({ crypto, seed: `${seed}/share`, ways: ways(17), capacities, epochs, params: THREE })
  const shareOf = (from: number, to: number) =>
    sumOf(run.accounts.slice(from, to), null, 'credits') / sumOf(run.accounts, null, 'credits')
  const pool = new Set([1, 2, 3, 4, 5, 6])
  const counts = run.tasks.map(({ accounts }) => accounts.filter((account) => pool.has(account)).length)
  const credited = counts.reduce((sum, count) => sum + count, 0)
  return [
    atMost('split identities: credits of a fifth of capacity in four accounts, over a fifth', 5 * shareOf(1, 5), 1.1),
    atMost('a fifth of capacity in one account: credits over a fifth', 5 * shareOf(0, 1), 1.1),
    atMost(
      'a pool of 6 in 20 that shares results: credits for one computation',
      credited / counts.filter((count) => count > 0).length,
      1.42,
    ),
  ]
}

/** Epochs until those who forge are caught: before, it pays. */
const TRUST_EPOCHS = 100

/** A third of capacity drills until it is trusted; then it forges whatever falls to a pair of its own. */
export function trustThenCheat({ crypto, seed }: AttackSetting): Finding[] {
  const [pool, all] = [3, 9]
  const isOwn = (accounts: readonly number[]) => accounts.length === 2 && accounts.every((account) => account < pool)
  const sly: Drilling = { name: 'sly', lie: (_, accounts) => (isOwn(accounts) ? 'sly' : null) }
  let [mine, theirs] = [0, 0]
  const run = runDrilling({
    ...{ crypto, seed: `${seed}/trust`, ways: ways(all, [pool, sly]), newFrom: 0 },
    ...{ epochs: TRUST_EPOCHS, params: { trustedStreak: 3n } },
    isOver: (drillers) => {
      for (let account = 0; account < pool; account++) mine += Number(drillers.weightOf(account))
      for (let account = pool; account < all; account++) theirs += Number(drillers.weightOf(account))
      return false
    },
  })
  const forged = run.tasks.filter(({ accounts }) => isOwn(accounts)).length
  const computed = sumOf(run.accounts, 'sly', 'replicas') - 2 * forged
  return [
    atMost(
      `trust, then cheat, ${TRUST_EPOCHS} epochs, ${forged} forged: weight for a task computed, over that of the honest`,
      mine / computed / (theirs / sumOf(run.accounts, 'honest', 'replicas')),
      1,
    ),
  ]
}

/** Eight times the network, rented: what a third of the lottery costs, and what share of the votes it is then. */
export function renting({ crypto, seed }: AttackSetting): Finding[] {
  const [own, rented] = [3, 24]
  let [days, votes] = [0, 0]
  runDrilling({
    crypto,
    seed: `${seed}/rent`,
    ways: ways(own + rented),
    newFrom: own,
    epochs: 40,
    params: THREE,
    isOver: (drillers) => {
      const all = Array.from({ length: own + rented }, (_, account) => account)
      const sum = (accounts: readonly number[], of: (account: number) => bigint) =>
        accounts.reduce((total, account) => total + Number(of(account)), 0)
      const [mine, theirs] = [all.slice(own), all.slice(0, own)]
      const weight = (accounts: readonly number[]) => sum(accounts, (account) => drillers.weightOf(account))
      const vote = (accounts: readonly number[]) => sum(accounts, (account) => drillers.voteOf(account))
      // w is 0.4 of R_D, which is a day of work.
      days = (0.4 * sum(mine, (account) => drillers.everOf(account))) / weight(theirs)
      votes = vote(mine) / vote(all)
      return weight(mine) / weight(all) >= 1 / 3
    },
  })
  return [
    atLeast('rented power: days of the whole network that a third of the lottery costs', days, 5.2),
    atMost('the same: its share of the votes then', votes, 0.13),
  ]
}
