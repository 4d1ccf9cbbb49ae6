import type { ChainParams } from '../../../core/chain/params.ts'
import type { SimulatedCrypto } from '../standIns.ts'
import { ActedChain } from './actedChain.ts'
import { Drillers, type Drilling } from './drillers.ts'
import { honestJudge, Judges } from './judges.ts'

/** Nine tenths of an epoch of the usual account: one task each. */
const CAPACITY = 10_000_000n
const WORK = 9_000_000n
/** What a right replica of it is credited, at the live share of the results here. */
const CREDIT = (WORK * 60_000n) / 65_535n

export interface DrillingSetting {
  readonly crypto: SimulatedCrypto
  readonly seed: string
  readonly ways: readonly Drilling[]
  /** In usual capacities; 1 for all unless given. */
  readonly capacities?: readonly number[]
  /** Accounts from this one on start without any weight. */
  readonly newFrom?: number
  /** Epochs that are counted. */
  readonly epochs: number
  readonly params?: Partial<ChainParams>
  /** Told after each epoch that is counted; true ends the run. */
  isOver?(drillers: Drillers): boolean
}

/** What came of an account. */
export interface Drilled {
  readonly way: string
  /** Replicas of tasks that are over, and how many of them were credited. */
  readonly replicas: number
  readonly credits: number
  /** All that was ever credited, in tasks. */
  readonly ever: number
  /** w at the end. */
  readonly weight: bigint
}

/** What all did, and how the tasks went. */
export interface DrillingRun {
  readonly accounts: readonly Drilled[]
  readonly tasks: Drillers['endedTasks']
}

/** Accounts that drill for so many epochs, after all of them have been checked and have become ready. */
export function runDrilling(setting: DrillingSetting): DrillingRun {
  const { ways, epochs } = setting
  const { chain, judges, drillers } = setUp(setting)
  const isReady = (account: number) => chain.state.view.accounts.ready.get(chain.place(account)) !== 0
  while (!ways.every((_, account) => isReady(account))) runEpoch(chain, judges, drillers)
  // Three epochs to the first draw, six to the first decision.
  for (let i = 0; i < 9; i++) runEpoch(chain, judges, drillers)
  drillers.startCounting()
  for (let i = 0; i < epochs; i++) {
    runEpoch(chain, judges, drillers)
    if (setting.isOver?.(drillers)) break
  }
  const accounts = ways.map(({ name }, account) => ({
    way: name,
    replicas: drillers.replicasOf(account),
    credits: Number(drillers.creditOf(account)) / Number(CREDIT),
    ever: Number(drillers.everOf(account)) / Number(CREDIT),
    weight: drillers.weightOf(account),
  }))
  return { accounts, tasks: drillers.endedTasks }
}

function setUp({ crypto, seed, ways, capacities, newFrom = ways.length, params }: DrillingSetting) {
  const judge = ways.length
  const members = ways.map((_, account) => ({ drilled: account < newFrom ? 24n * CREDIT : 0n }))
  const holdings = [...members, { drilled: 10n ** 6n, stake: 10_000n }]
  const chain = new ActedChain({ crypto, seed, holdings, work: WORK, ...(params && { params }) })
  const boxes = ways.map((_, owner) => ({ owner, capacity: BigInt(capacities?.[owner] ?? 1) * CAPACITY }))
  const judges = new Judges(chain, [honestJudge(judge)], boxes)
  const drillers = new Drillers(chain, new Map(ways.entries()))
  chain.advance(1n)
  return { chain, judges, drillers }
}

/** Two blocks with all that is due, and the first one of the next epoch. */
function runEpoch(chain: ActedChain, judges: Judges, drillers: Drillers): void {
  const { epochSlots } = chain.state.params
  const start = chain.epoch * epochSlots
  judges.act()
  drillers.act()
  chain.advance(start + 3n)
  drillers.act()
  chain.advance(start + 6n)
  drillers.note()
  chain.advance(start + epochSlots)
  drillers.note()
}
