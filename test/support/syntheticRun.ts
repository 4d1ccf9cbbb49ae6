import type { Precision } from '../../src/core/params/precision.ts'
import type { Challenge } from '../../src/core/proof/challenge.ts'
import { devicesOf } from '../../src/core/proof/part.ts'
import { type Part, rootCount } from '../../src/core/proof/partKinds.ts'
import type { PartEvidence, Run } from '../../src/core/proof/verifyPart.ts'

/** What one device is to have shown; times are made from it. */
export interface SyntheticCard {
  readonly rates: Readonly<Partial<Record<Precision, number>>>
  readonly heldBytes?: number
  readonly bandwidth?: number
  /** Operations a second of a bind part; none when left out. */
  readonly bindRate?: number
}

export interface SyntheticRun {
  readonly cards: readonly SyntheticCard[]
  /** m = n of each precision. */
  readonly size: (precision: Precision) => number
  /** Memory parts by their masks; one of all devices when left out. */
  readonly memoryMasks?: readonly number[]
  /** As a plan would have it when left out. */
  readonly memoryKind?: 'memory' | 'memories'
}

const SECONDS = 4
const hash = () => new Uint8Array(32)

const base = (cards: number) => ({
  openings: 128,
  mask: 2 ** cards - 1,
  limitMs: 600_000,
  openLimitMs: 600_000,
  kept: Array<number>(cards).fill(0),
  nonceHash: hash(),
})

/**
 * A mainnet run as a validator would have seen it, with times made from rates. It judges like a real one; its roots are
 * zeros and it has no openings, so it says nothing about §6.
 */
export function syntheticRun({ cards, size, memoryMasks, memoryKind }: SyntheticRun): Run {
  const precisions = Object.keys(cards[0]!.rates) as Precision[]
  const parts: Part[] = precisions.map((precision) => {
    const m = size(precision)
    const k = precision === 'fp32' ? 8192 : 32768
    // As in a real plan, the fastest card is at work for as long as was wanted.
    const fastest = Math.max(...cards.map(({ rates }) => rates[precision]!))
    const rounds = Math.max(1, Math.ceil((SECONDS * fastest) / (2 * m * m * k)))
    return { ...base(cards.length), kind: 'rounds', precision, m, n: m, k, rounds }
  })
  if (cards.some(({ heldBytes }) => heldBytes !== undefined))
    for (const mask of memoryMasks ?? [2 ** cards.length - 1]) parts.push(memoryPart(cards, mask, memoryKind))
  const bound = cards.map(({ bindRate }) => bindRate ?? 0)
  if (Math.max(...bound) > 0) {
    const m = size('int8')
    const rounds = Math.ceil((SECONDS * Math.max(...bound)) / (2 * m * m * 2048))
    parts.push({ ...base(cards.length), kind: 'bind', precision: 'int8', m, n: m, k: 2048, rounds })
  }
  const challenge: Challenge = {
    version: 2,
    runId: new Uint8Array(16),
    validatorKey: hash(),
    proverKey: hash(),
    deviceCount: cards.length,
    parts,
  }
  return { challenge, parts: parts.map((part) => evidenceOf(part, cards)) }
}

const KEPT_ROUND_BYTES = 2 * 4096 * 4096

function memoryPart(cards: readonly SyntheticCard[], mask: number, memoryKind: SyntheticRun['memoryKind']): Part {
  const rounds = Math.ceil(
    Math.max(...cards.map(({ bandwidth, heldBytes }) => (SECONDS * bandwidth!) / (2 * heldBytes!))),
  )
  const kept = cards.map(({ heldBytes }, d) =>
    Math.floor(mask / 2 ** d) % 2 === 1 ? Math.floor(heldBytes! / KEPT_ROUND_BYTES) : 0,
  )
  const kind = memoryKind ?? (mask === 2 ** cards.length - 1 && cards.length > 1 ? 'memories' : 'memory')
  const shape = { kind, precision: 'int8', m: 4096, n: 4096, k: 32768 } as const
  return { ...base(cards.length), ...shape, rounds, mask, kept }
}

function evidenceOf(part: Part, cards: readonly SyntheticCard[]): PartEvidence {
  const isMemory = part.kind === 'memory' || part.kind === 'memories'
  const zSentUs = isMemory ? 1_000_000 : null
  const devices = devicesOf(part).map((device) => {
    const card = cards[device]!
    const seconds = isMemory
      ? (2 * KEPT_ROUND_BYTES * part.kept[device]! * part.rounds) / card.bandwidth!
      : (part.rounds * 2 * part.m * part.n * part.k) /
        (part.kind === 'bind' ? card.bindRate! : card.rates[part.precision]!)
    const count = rootCount(part, device)
    const kept = part.kept[device]!
    const arrivalsUs = Array.from({ length: count }, (_, i) =>
      i < kept
        ? Math.floor((1_000_000 * i) / kept)
        : (zSentUs ?? 0) + Math.round((1e6 * seconds * (i - kept + 1)) / part.rounds),
    )
    return { device, roots: arrivalsUs.map(hash), arrivalsUs, openings: new Uint8Array(0) }
  })
  return { s: hash(), z: isMemory ? hash() : null, zSentUs, nonce: hash(), devices }
}
