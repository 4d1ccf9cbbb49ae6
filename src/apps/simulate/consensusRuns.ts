import type { ChainBlock } from '../../core/chain/consensus/chainBlock.ts'
import type { FinalityRules } from '../../core/chain/consensus/consensusNode.ts'
import { BYZANTINE, honest } from './adversaries.ts'
import { LightLedger, type Standings } from './lightLedger.ts'
import { makeAccounts, type SimAccount, type SimLedger } from './simLedger.ts'
import { type Behaviour, type NetworkRules, Simulation, type Violation } from './simulation.ts'
import type { SimulatedCrypto } from './standIns.ts'
import { changing, earning, steady } from './standings.ts'
import { StateLedger } from './stateLedger.ts'
import { type Chance, xoshiro } from './xoshiro.ts'

/** What consensus takes of a preset (§3.1). */
export interface SimPreset {
  readonly slotMs: number
  readonly rules: FinalityRules
}

const LATE_EPOCHS = 168
export const SIM_PRESETS = {
  mainnet: { slotMs: 6000, rules: { epochSlots: 600, roundSlots: 10, lag: 2, lateEpochs: LATE_EPOCHS } },
  devnet: { slotMs: 1000, rules: { epochSlots: 10, roundSlots: 2, lag: 1, lateEpochs: LATE_EPOCHS } },
} as const satisfies Record<string, SimPreset>

const SIZES = { exact: 256, seats: 768 }
const USUAL: NetworkRules = { delayMs: [20, 300], loss: 0.01 }

interface Setting {
  readonly crypto: SimulatedCrypto
  readonly seed: string
  readonly nodes: number
  readonly preset: SimPreset
  /** The blocks and the state behind them. */
  readonly ledgerOf: (accounts: readonly SimAccount[], chance: Chance) => SimLedger
  readonly network?: NetworkRules
  readonly behaviourOf?: (node: number) => Behaviour
}

/** A run that is ready to go. */
function prepare({ crypto, seed, nodes, preset, ledgerOf, network, behaviourOf }: Setting): Simulation {
  const chance = xoshiro(seed)
  const accounts = makeAccounts(nodes, seed, crypto)
  return new Simulation({
    ...preset,
    ledger: ledgerOf(accounts, chance),
    accounts,
    network: network ?? USUAL,
    behaviourOf: behaviourOf ?? (() => honest),
    honest,
    chance,
  })
}

/** Blocks without content on standings that are given. */
const light =
  ({ crypto, seed, preset }: Pick<Setting, 'crypto' | 'seed' | 'preset'>, standings: StandingsOf) =>
  (accounts: readonly SimAccount[], chance: Chance): SimLedger => {
    const { epochSlots } = preset.rules
    return new LightLedger({ crypto, accounts, standings: standings(accounts, chance), epochSlots, sizes: SIZES, seed })
  }

type StandingsOf = (accounts: readonly SimAccount[], chance: Chance) => Standings

/** How a run of consensus ended. */
export interface ConsensusOutcome {
  readonly nodes: number
  readonly slots: number
  readonly finalSlot: number
  readonly blocks: number
  readonly primaries: number
  readonly events: number
  /** Voters caught with two votes that exclude each other. */
  readonly caught: number
  readonly violation: Violation | null
  /** With the whole state: blocks whose units were counted, offences punished, and the first sum that was not the supply. */
  readonly state: StateLedger['figures'] | null
  /** Slots between the clock and the last final block, at the end of every tenth slot or so. */
  readonly delays: readonly number[]
}

export function runConsensus(setting: Setting, slots: number): ConsensusOutcome {
  const simulation = prepare(setting)
  const every = Math.max(1, Math.floor(slots / 600))
  const delays: number[] = []
  simulation.run(slots, (slot) => {
    if (slot % every === 0) delays.push(slot - simulation.final.slot)
  })
  return outcomeOf(simulation, delays)
}

function outcomeOf(simulation: Simulation, delays: readonly number[]): ConsensusOutcome {
  const { ledger } = simulation.options
  const heads = simulation.nodes.filter(({ number }) => simulation.isHonest(number)).map((node) => node.consensus.head)
  const head = heads.reduce((best, each) => (each.score > best.score ? each : best), simulation.final)
  return {
    nodes: simulation.nodes.length,
    slots: simulation.slot,
    finalSlot: simulation.final.slot,
    blocks: head.height,
    primaries: (head.score - head.height) / 3,
    events: simulation.events,
    caught: simulation.offences.size,
    violation: simulation.violation,
    state: ledger instanceof StateLedger ? ledger.figures : null,
    delays,
  }
}

const equal = (count: number): bigint[] => Array.from({ length: count }, () => 1_000_000n)

/** Everybody honest, equal weights. */
export function largeRun(crypto: SimulatedCrypto, seed: string, nodes: number, slots: number): ConsensusOutcome {
  const base = { crypto, seed, nodes, preset: SIM_PRESETS.mainnet }
  return runConsensus({ ...base, ledgerOf: light(base, (accounts) => steady(accounts, equal(nodes))) }, slots)
}

export interface SilentSetting {
  readonly nodes: number
  /** How many of them are silent and earn no more, from epoch 4 on. */
  readonly quiet: number
  readonly slots: number
}

/** Some fall silent. Weights are equal at first; credit fades as in §4. */
export function silentRun(crypto: SimulatedCrypto, seed: string, setting: SilentSetting): ConsensusOutcome {
  const { nodes, quiet, slots } = setting
  const base = { crypto, seed, nodes, preset: SIM_PRESETS.devnet }
  const isIdle = (node: number, epoch: number) => node < quiet && epoch >= 4
  const { epochSlots } = base.preset.rules
  const partOf = (node: number, slot: number) => (isIdle(node, Math.floor(slot / epochSlots)) ? -1 - node : 0)
  const ledgerOf = light(base, (accounts) => earning(accounts, equal(nodes), isIdle))
  return runConsensus({ ...base, ledgerOf, network: { ...USUAL, loss: 0, partOf } }, slots)
}

/** The halves cannot hear each other for so many epochs; weights change in every epoch. */
export function halvesRun(crypto: SimulatedCrypto, seed: string, nodes: number, epochs: number): ConsensusOutcome {
  const base = { crypto, seed, nodes, preset: SIM_PRESETS.devnet }
  const { epochSlots } = base.preset.rules
  const [apart, together] = [4 * epochSlots, (4 + epochs) * epochSlots]
  const partOf = (node: number, slot: number) => (slot >= apart && slot < together ? node % 2 : 0)
  const ledgerOf = light(base, (accounts, chance) => changing(accounts, chance, new Set(), 0))
  return runConsensus({ ...base, ledgerOf, network: { ...USUAL, partOf } }, together + 200)
}

export interface ByzantineSetting {
  readonly slots: number
  /** The whole state under it, with transfers, rewards and slashing; or else weights that change in every epoch. */
  readonly isWhole: boolean
  /** Most weight that liars may have in any set. */
  readonly most: number
}

export const BYZANTINE_SETTING: ByzantineSetting = { slots: 200, isWhole: false, most: 0.33 }

/** Liars under a third of every set on a bad network: all of it drawn from the seed. */
export function byzantineRun(
  crypto: SimulatedCrypto,
  seed: string,
  { slots, isWhole, most }: ByzantineSetting = BYZANTINE_SETTING,
): ConsensusOutcome {
  const draw = xoshiro(`${seed}/setting`)
  const nodes = 12 + draw.below(5)
  const share = draw.unit() * most
  const liars = new Set(Array.from({ length: 1 + draw.below(4) }, () => 1 + draw.below(nodes - 1)))
  const kinds = new Map([...liars].map((node) => [node, BYZANTINE[draw.below(BYZANTINE.length)]!]))
  const [start, length, parts] = [20 + draw.below(60), 20 + draw.below(100), draw.below(3)]
  const partOf = (node: number, slot: number) =>
    parts > 0 && slot >= start && slot < start + length ? node % (parts + 1) : 0
  const network = { delayMs: [10, 100 + draw.below(2500)] as const, loss: draw.unit() * 0.2, partOf }
  const base = { crypto, seed, nodes, preset: SIM_PRESETS.devnet, network }
  const standings = (accounts: readonly SimAccount[], chance: Chance) => changing(accounts, chance, liars, share)
  const whole = (accounts: readonly SimAccount[], chance: Chance) =>
    new StateLedger(
      crypto,
      accounts,
      standings(accounts, chance)(-1).map(({ weight }) => 1000n * weight),
    )
  const ledgerOf = isWhole ? whole : light(base, standings)
  return runConsensus({ ...base, ledgerOf, behaviourOf: (node) => kinds.get(node) ?? honest }, slots)
}

/** What one account that breaks the rules got out of it. */
export interface AttackOutcome {
  readonly behaviour: string
  readonly weight: number
  /** Its shares of the blocks, and of the primary blocks, that became final. */
  readonly blocks: number
  readonly primaries: number
  /** The share of blocks of node 0, whose weight is `victimWeight`. */
  readonly victim: number
  readonly victimWeight: number
  readonly caught: number
  readonly finalSlot: number
  readonly slots: number
}

/** One account with this share of the weight behaves so; eleven others are honest and equal. */
export function attackRun(
  crypto: SimulatedCrypto,
  seed: string,
  behaviour: Behaviour,
  weight: number,
  slots: number,
): AttackOutcome {
  const [nodes, cheat] = [12, 11]
  const base = { crypto, seed, nodes, preset: SIM_PRESETS.mainnet }
  const part = BigInt(Math.round((1e9 * (1 - weight)) / (nodes - 1)))
  const weights = equal(nodes).map((_, node) => (node === cheat ? BigInt(Math.round(1e9 * weight)) : part))
  const behaviourOf = (node: number) => (node === cheat ? behaviour : honest)
  const simulation = prepare({ ...base, behaviourOf, ledgerOf: light(base, (accounts) => steady(accounts, weights)) })
  simulation.run(slots)
  const keys = simulation.options.accounts.map(({ key }) => key)
  const chain: ChainBlock[] = []
  for (let at: ChainBlock | null = simulation.final; at !== null && at.parent !== null; at = at.parent) chain.push(at)
  const shareOf = (key: string, blocks: readonly ChainBlock[]) =>
    blocks.filter(({ author }) => author === key).length / Math.max(1, blocks.length)
  return {
    behaviour: behaviour.name,
    weight,
    blocks: shareOf(keys[cheat]!, chain),
    primaries: shareOf(
      keys[cheat]!,
      chain.filter(({ win }) => win !== null),
    ),
    victim: shareOf(keys[0]!, chain),
    victimWeight: (1 - weight) / (nodes - 1),
    caught: simulation.offences.size,
    finalSlot: simulation.final.slot,
    slots,
  }
}
