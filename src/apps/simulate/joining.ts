import { ancestorAt, type ChainBlock, contains } from '../../core/chain/consensus/chainBlock.ts'
import { isBetter } from '../../core/chain/consensus/forkChoice.ts'
import { type Checkpoint, joinChain } from '../../core/chain/consensus/joinChain.ts'
import { LightLedger, type Standings } from './lightLedger.ts'
import { atLeast, atMost, type Finding, type Report } from './models/report.ts'
import { makeAccounts, type SimAccount } from './simLedger.ts'
import type { SimulatedCrypto } from './standIns.ts'
import { steady } from './standings.ts'
import { type Chance, xoshiro } from './xoshiro.ts'

const ACCOUNTS = 20
const WEIGHT = 1_000_000n
/** The epoch in the middle of which the private past leaves the public one. */
const FORK_EPOCH = 3

export interface JoiningSetting {
  readonly epochSlots: number
  /** The share of weight whose keys the forger holds: its own, bought, or stolen since. */
  readonly share: number
  /** Epochs after the fork that both branches go on for. */
  readonly epochs: number
  /** Ways to begin the private past, of which the densest is shown. */
  readonly tries: number
}

export interface TwoPasts {
  readonly honest: ChainBlock
  readonly forged: ChainBlock
  readonly checkpoint: Checkpoint
}

/** A public chain, and a private one by the holders of old keys, who give themselves all weight from the third epoch on. */
export function twoPasts(crypto: SimulatedCrypto, seed: string, setting: JoiningSetting): TwoPasts {
  const { epochSlots, share, epochs, tries } = setting
  const accounts = makeAccounts(ACCOUNTS, seed, crypto)
  const held = Math.round(ACCOUNTS * share)
  const [forgers, others] = [accounts.slice(0, held), accounts.slice(held)]
  const fork = (FORK_EPOCH + 0.5) * epochSlots
  const end = fork + epochs * epochSlots
  const minted = new Set<string>()
  const standings = mintedFrom(accounts, held, minted)
  const ledger = new LightLedger({ crypto, accounts, standings, epochSlots, sizes: { exact: 256, seats: 768 }, seed })
  const shared = extend(ledger, ledger.genesis, accounts, fork)
  const honest = extend(ledger, shared, others, end)
  const begin = (tip: ChainBlock, chance: Chance | null) => extend(ledger, tip, forgers, fork + 2 * epochSlots, chance)
  const pasts = Array.from({ length: tries }, (_, i) => begin(shared, i === 0 ? null : xoshiro(`${seed}/${i}`)))
  const densest = pasts.reduce((best, past) => (past.score > best.score ? past : best))
  for (let at = densest; at !== shared; at = at.parent!) minted.add(at.id)
  const { id, slot } = ancestorAt(honest, fork + epochSlots)
  return { honest, forged: extend(ledger, densest, forgers, end), checkpoint: { id, slot } }
}

/** Equal weights, until the third epoch of a private past. */
function mintedFrom(accounts: readonly SimAccount[], held: number, minted: ReadonlySet<string>): Standings {
  const equal = steady(
    accounts,
    accounts.map(() => WEIGHT),
  )
  const own = steady(
    accounts,
    accounts.map((_, number) => (number < held ? WEIGHT : 0n)),
  )
  const isMinted = (branch: ChainBlock) => {
    for (let at: ChainBlock | null = branch; at !== null && at.epoch >= FORK_EPOCH; at = at.parent)
      if (minted.has(at.id)) return true
    return false
  }
  return (epoch, branch) => (epoch >= FORK_EPOCH && isMinted(branch) ? own : equal)(epoch, branch)
}

/** A branch by these accounts alone, up to a slot; with chance, some of their primaries of the first epoch are left out. */
function extend(
  ledger: LightLedger,
  from: ChainBlock,
  members: readonly SimAccount[],
  end: number,
  chance: Chance | null = null,
): ChainBlock {
  let tip = from
  for (let slot = from.slot + 1; slot < end; slot++) {
    const make = (account: SimAccount, isPrimary: boolean) =>
      ledger.make({ account, parent: tip, slot, isPrimary, salt: 0, commits: [], offences: [] })
    const isSpared = chance !== null && tip.epoch === from.epoch && chance.unit() < 0.25
    const primaries = isSpared ? [] : members.flatMap((account) => make(account, true) ?? [])
    const blocks = primaries.length > 0 ? primaries : members.flatMap((account) => make(account, false) ?? [])
    if (blocks.length > 0) tip = blocks.reduce((best, block) => (isBetter(block, best) ? block : best))
  }
  return tip
}

/** Which past a node without one of its own follows, if these are shown to it. */
export function joinWith(
  { honest, forged, checkpoint }: TwoPasts,
  shown: readonly ('honest' | 'forged')[],
  { epochSlots }: JoiningSetting,
  isTold: boolean,
): 'honest' | 'forged' | 'none' {
  const genesis = ancestorAt(honest, 0)
  const branches = shown.map((name) => ({ tip: name === 'honest' ? honest : forged, final: genesis }))
  const joined = joinChain({ epochSlots, now: honest.slot, checkpoint: isTold ? checkpoint : null, branches })
  if (joined.kind !== 'follow') return 'none'
  return contains(honest, joined.tip) ? 'honest' : 'forged'
}

const MAINNET: JoiningSetting = { epochSlots: 600, share: 1 / 3, epochs: 8, tries: 4 }
const BOTH = ['forged', 'honest'] as const

interface Trials {
  /** Of all joiners that are shown these pasts, the share that ends on one of them. */
  end(on: 'honest' | 'forged', shown: readonly ('honest' | 'forged')[], isTold: boolean): number
  /** Of all pairs of pasts, the share in which the forged one has more score. */
  readonly higher: number
}

function trials(crypto: SimulatedCrypto, seed: string, seeds: number, setting: JoiningSetting): Trials {
  const pasts = Array.from({ length: seeds }, (_, i) => twoPasts(crypto, `${seed}/${setting.share}/${i}`, setting))
  const shareOf = (isSo: (past: TwoPasts) => boolean) => pasts.filter(isSo).length / seeds
  return {
    end: (on, shown, isTold) => shareOf((past) => joinWith(past, shown, setting, isTold) === on),
    higher: shareOf(({ honest, forged }) => isBetter(forged, honest)),
  }
}

/** Late joiners: long private pasts by old keys, and neighbours who are all forgers. */
export function joining(crypto: SimulatedCrypto, seed: string, seeds: number): Report {
  const short = { ...MAINNET, epochs: 2.5 }
  const third = trials(crypto, seed, seeds, MAINNET)
  const [strong, over] = [0.4, 0.6].map((share) => trials(crypto, seed, seeds, { ...short, share })) as [Trials, Trials]
  const curve = (epochSlots: number) =>
    [0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6].map((share) => {
      const each = trials(crypto, seed, seeds, { epochSlots, share, epochs: 2.5, tries: 1 })
      return [share, each.end('honest', BOTH, false)] as const
    })
  return {
    name: 'joining',
    findings: [...byOldKeys(third, strong, over, seeds), ...eclipsed(third)],
    charts: [
      {
        name: 'joining',
        title: 'Late joiners without a checkpoint that follow the honest chain',
        x: 'share of old keys that forge a past',
        y: 'share of joiners',
        lines: [
          { name: 'epochs of 600 slots (mainnet)', points: curve(600) },
          { name: 'epochs of 10 slots (devnet)', points: curve(10) },
        ],
      },
    ],
  }
}

const byOldKeys = (third: Trials, strong: Trials, over: Trials, seeds: number): Finding[] => [
  atLeast(
    `a third of old keys, 8 epochs in private, ${seeds} seeds: joiners on the honest chain`,
    third.end('honest', BOTH, false),
    1,
  ),
  atLeast('the same by score alone: joiners on the forged chain, which is why density decides', third.higher, 0.8),
  atLeast('two fifths of old keys: joiners on the honest chain', strong.end('honest', BOTH, false), 1),
  atLeast('three fifths, with a checkpoint: joiners on the honest chain', over.end('honest', BOTH, true), 1),
  atLeast(
    'the same without one: joiners on the forged chain, which is why there are checkpoints',
    over.end('forged', BOTH, false),
    0.8,
  ),
]

const eclipsed = (third: Trials): Finding[] => [
  atMost(
    'all neighbours forge, with a checkpoint: joiners on the forged chain',
    third.end('forged', ['forged'], true),
    0,
  ),
  atLeast(
    'the same without one, once a single honest neighbour is found: joiners on the honest chain',
    third.end('honest', ['forged', 'forged', 'honest'], false),
    1,
  ),
]
