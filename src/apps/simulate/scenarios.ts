import { adversaries } from './acted/adversaries.ts'
import { BYZANTINE, honest } from './adversaries.ts'
import { attackRun, byzantineRun, type ConsensusOutcome, halvesRun, largeRun, silentRun } from './consensusRuns.ts'
import { joining } from './joining.ts'
import { blockShares } from './models/blockShares.ts'
import { drilling } from './models/drilling.ts'
import { economy } from './models/economy.ts'
import { grinding } from './models/grinding.ts'
import { atLeast, atMost, type Chart, type Report } from './models/report.ts'
import { scores } from './models/scores.ts'
import type { SimulatedCrypto } from './standIns.ts'

/** What a person can change about a run. */
export interface ScenarioSetting {
  readonly crypto: SimulatedCrypto
  readonly seed: string
  /** How many seeds. */
  readonly seeds: number
  readonly nodes: number
  /** Slots; tasks in the model of drilling, epochs where adversaries act on a chain. */
  readonly slots: number
  /** Blocks with the whole state under them. */
  readonly isWhole: boolean
  /** Told after each seed of many. */
  onProgress?(done: number, of: number): void
}

export interface Scenario {
  readonly about: string
  readonly slots: number
  /** How many seeds, where it runs several; 1 unless given. */
  readonly seeds?: number
  run(setting: ScenarioSetting): Report
}

/** Everything that can be simulated, by name, with its usual size. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  blocks: {
    about: 'primary blocks against weight, and what splitting an account gains',
    slots: 100_000,
    run: ({ crypto, seed, slots }) => blockShares(crypto, seed, slots),
  },
  large: {
    about: 'many honest nodes with mainnet times',
    slots: 10_000,
    run: ({ crypto, seed, nodes, slots }) => large(largeRun(crypto, seed, nodes, slots)),
  },
  finality: {
    about: 'a part of the nodes silent, and halves that cannot hear each other',
    slots: 0,
    run: ({ crypto, seed }) => finality(crypto, seed),
  },
  byzantine: { about: 'liars under a third on a bad network, many seeds', slots: 200, seeds: 50, run: byzantine },
  joining: {
    about: 'late joiners, pasts forged with old keys, neighbours who all forge',
    slots: 0,
    seeds: 6,
    run: ({ crypto, seed, seeds }) => joining(crypto, seed, seeds),
  },
  adversaries: {
    about: 'liars, withholders, pools, renters and colluders against the state transition itself',
    slots: 40,
    run: ({ crypto, seed, seeds, slots, onProgress }) =>
      adversaries({ crypto, seed, epochs: slots }, seeds, onProgress),
  },
  attacks: {
    about: 'what each way to break the rules of consensus gains',
    slots: 3000,
    run: ({ crypto, seed, slots }) => attacks(crypto, seed, slots),
  },
  drilling: {
    about: 'griefing, forging, appeals and time of drilling tasks',
    slots: 100_000,
    run: ({ seed, slots }) => drilling(seed, slots),
  },
  scores: { about: 'checks of boxes and their median', slots: 0, run: ({ seed }) => scores(seed, 2000) },
  economy: { about: 'rented power, hoarded credit, wash training', slots: 0, run: economy },
  grinding: {
    about: 'choosing how an epoch ends, and choosing keys',
    slots: 0,
    run: ({ crypto, seed }) => grinding(crypto, seed, 20_000),
  },
}

/** A week of the network that these runs use. */
const LATE_SLOTS = 1680

const delayChart = (runs: readonly (readonly [string, ConsensusOutcome])[]): Chart => ({
  name: 'finality-delay',
  title: 'Slots between the clock and the last final block',
  x: 'slot',
  y: 'slots behind',
  lines: runs.map(([name, { delays, slots }]) => ({
    name,
    points: delays.map((delay, i) => [(i * slots) / delays.length, delay] as const),
  })),
})

function large(run: ConsensusOutcome): Report {
  const perNode = run.slots - run.finalSlot
  return {
    name: 'large',
    findings: [
      atMost('two final blocks that exclude each other', run.violation === null ? 0 : 1, 0),
      atMost(`${run.nodes} nodes, ${run.slots} slots, ${run.events} events: slots behind at the end`, perNode, 40),
      atLeast('blocks that became part of the chain, over slots', run.blocks / run.slots, 0.9),
    ],
    charts: [delayChart([['honest nodes', run]])],
  }
}

function finality(crypto: SimulatedCrypto, seed: string): Report {
  const under = silentRun(crypto, `${seed}/under`, { nodes: 16, quiet: 5, slots: 1000 })
  const third = silentRun(crypto, `${seed}/third`, { nodes: 12, quiet: 4, slots: 3600 })
  const forty = silentRun(crypto, `${seed}/forty`, { nodes: 10, quiet: 4, slots: 3600 })
  const halves = Array.from({ length: 20 }, (_, i) => halvesRun(crypto, `${seed}/halves/${i}`, 12, 21))
  const all = [under, third, forty, ...halves]
  const behind = ({ slots, finalSlot }: ConsensusOutcome) => slots - finalSlot
  return {
    name: 'finality',
    findings: [
      atMost('two final blocks that exclude each other, all runs', all.filter(({ violation }) => violation).length, 0),
      atMost('5 of 16 silent: slots behind at the end', behind(under), 20),
      atLeast('a third silent: slots behind at most, a week and no less', Math.max(...third.delays), LATE_SLOTS - 60),
      atMost('a third silent: slots behind at the end, two weeks later', behind(third), 20),
      atMost('40 % silent: slots behind at most, a week and little more', Math.max(...forty.delays), LATE_SLOTS + 60),
      atMost('40 % silent: slots behind at the end, two weeks later', behind(forty), 20),
      atMost(
        'halves apart for 21 epochs, 20 seeds, sets changing: slots behind 200 slots after',
        Math.max(...halves.map(behind)),
        60,
      ),
    ],
    charts: [
      delayChart([
        ['5 of 16 silent', under],
        ['a third silent', third],
        ['40 % silent', forty],
        ['halves apart for 21 epochs', halves[0]!],
      ]),
    ],
  }
}

function byzantine({ crypto, seed, seeds, slots, isWhole, onProgress }: ScenarioSetting): Report {
  const runs: ConsensusOutcome[] = []
  for (let i = 0; i < seeds; i++) {
    runs.push(byzantineRun(crypto, `${seed}/${i}`, { slots, isWhole, most: 0.33 }))
    onProgress?.(i + 1, seeds)
  }
  const broken = runs.findIndex(({ violation }) => violation !== null)
  const sum = (of: (run: ConsensusOutcome) => number) => runs.reduce((total, run) => total + of(run), 0)
  const counted = sum(({ state }) => state?.counted ?? 0)
  return {
    name: 'byzantine',
    findings: [
      atMost(
        `${seeds} seeds, 12 to 16 nodes, ${slots} slots, liars under a third: seeds with two final blocks that exclude each other${broken < 0 ? '' : `, first ${seed}/${broken}`}`,
        runs.filter(({ violation }) => violation !== null).length,
        0,
      ),
      atLeast(
        'voters caught with two votes that exclude each other',
        sum(({ caught }) => caught),
        Math.floor(seeds / 10),
      ),
      ...(isWhole
        ? [
            atMost(
              `units made or lost: blocks of ${counted} where the sum was not the supply`,
              sum(({ state }) => (state!.leak ? 1 : 0)),
              0,
            ),
            atLeast(
              'blocks that punished an offence',
              sum(({ state }) => state!.punished),
              Math.floor(seeds / 10),
            ),
          ]
        : []),
    ],
    charts: [],
  }
}

/** What each way to break the rules of consensus gains: shares of final blocks beyond its weight, and beyond an honest twin. */
function attacks(crypto: SimulatedCrypto, seed: string, slots: number): Report {
  const weights = [0.1, 0.2, 0.32]
  const outcomes = [honest, ...BYZANTINE].map((behaviour) => ({
    behaviour,
    runs: weights.map((weight) => attackRun(crypto, seed, behaviour, weight, slots)),
  }))
  // Of so many primaries a share strays by this much, twice over.
  const noise = (weight: number) => 3 * Math.sqrt((weight * (1 - weight)) / (slots / 4))
  return {
    name: 'attacks',
    findings: outcomes.flatMap(({ behaviour, runs }) => [
      ...runs.map(({ weight, primaries }) =>
        atMost(
          `${behaviour.name} with ${weight} of weight: share of final primaries`,
          primaries,
          weight + noise(weight),
        ),
      ),
      ...(behaviour.name === 'censor'
        ? runs.map(({ weight, victim, victimWeight }) =>
            atLeast(`censored by ${weight} of weight: blocks of the victim over its share`, victim / victimWeight, 0.5),
          )
        : []),
      ...(behaviour.name === 'equivocate' || behaviour.name === 'breakLocks'
        ? [atLeast(`${behaviour.name}: caught, of 3 runs`, runs.filter(({ caught }) => caught > 0).length, 3)]
        : []),
    ]),
    charts: [
      {
        name: 'attack-gain',
        title: 'Final primary blocks against weight, by behaviour',
        x: 'share of weight',
        y: 'share of blocks',
        lines: outcomes.map(({ behaviour, runs }) => ({
          name: behaviour.name,
          points: runs.map(({ weight, primaries }) => [weight, primaries] as const),
        })),
      },
    ],
  }
}
