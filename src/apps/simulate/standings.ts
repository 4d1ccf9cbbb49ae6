import { decayAndAdd, EIGHT_WEEKLY, votingWeightOf, WEEKLY, weightOf } from '../../core/chain/accounting.ts'
import type { Standing } from '../../core/chain/consensus/epochView.ts'
import type { Standings } from './lightLedger.ts'
import type { SimAccount } from './simLedger.ts'
import type { Chance } from './xoshiro.ts'

const standing = ({ key, vrfKey }: SimAccount, weight: bigint, vote = weight): Standing => ({
  key,
  vrfKey: vrfKey.publicKey,
  weight,
  vote,
  isBoot: false,
})

/** The same weights for ever. */
export function steady(accounts: readonly SimAccount[], weights: readonly bigint[]): Standings {
  const all = accounts.map((account, number) => standing(account, weights[number]!))
  return () => all
}

/**
 * New weights in every epoch, some of them 0, so that sets change all the while; those of `liars` together are always this
 * share of the whole, rounded down.
 */
export function changing(
  accounts: readonly SimAccount[],
  chance: Chance,
  liars: ReadonlySet<number>,
  share: number,
): (epoch: number) => readonly Standing[] {
  const epochs = new Map<number, readonly Standing[]>()
  const make = (): readonly Standing[] => {
    const raw = accounts.map((_, number) =>
      chance.unit() < 0.1 && number > 0 ? 0n : BigInt(1_000_000 + chance.below(4_000_000)),
    )
    const sumOf = (wanted: boolean) =>
      raw.reduce((sum, weight, number) => (liars.has(number) === wanted ? sum + weight : sum), 0n)
    const [lying, telling] = [sumOf(true), sumOf(false)]
    const allowed = BigInt(Math.floor((share / (1 - share)) * 1e6))
    const fitted = raw.map((weight, number) =>
      liars.has(number) && lying > 0n ? (weight * telling * allowed) / (lying * 1_000_000n) : weight,
    )
    return accounts.map((account, number) => standing(account, fitted[number]!))
  }
  return (epoch) => {
    const known = epochs.get(epoch) ?? make()
    epochs.set(epoch, known)
    return known
  }
}

/** The accounting of §4: all drill at the rate of their weight; from an epoch on some of them no longer do. */
export function earning(
  accounts: readonly SimAccount[],
  weights: readonly bigint[],
  isIdle: (account: number, epoch: number) => boolean,
): Standings {
  // w = 0.4 of R_D, and R_D is steady at 24 times the work of an epoch.
  const power = weights.map((weight) => ({ drilled: (weight * 10n) / 4n, trained: 0n, failed: 0n, settled: weight }))
  const past: (readonly Standing[])[] = []
  const look = () =>
    accounts.map((each, number) => standing(each, weightOf(power[number]!), votingWeightOf(power[number]!)))
  const genesis = look()
  const advance = (epoch: number) => {
    for (const [number, each] of power.entries()) {
      const work = isIdle(number, epoch) ? 0n : (weights[number]! * 10n) / (4n * 24n)
      each.settled = decayAndAdd(each.settled, (work * 4n) / 10n, EIGHT_WEEKLY)
      each.drilled = decayAndAdd(each.drilled, work, WEEKLY)
    }
    past.push(look())
  }
  return (epoch) => {
    if (epoch < 0) return genesis
    while (past.length <= epoch) advance(past.length)
    return past[epoch]!
  }
}
