import type { Judgement } from '../certificate/judgeRun.ts'
import { hostScoreFacts } from '../inventory/hostScoreFacts.ts'
import type { Precision } from '../params/precision.ts'
import type { DeviceClass } from '../proof/sizeClass.ts'
import type { BoxScoreInput, GpuScoreInput } from '../score/scoreBox.ts'
import type { Inventory } from '../wire/inventory.ts'

export interface ScoreSource {
  readonly judgement: Judgement
  readonly deviceClasses: readonly DeviceClass[]
  readonly registered: boolean
  readonly allocated: boolean
  /** What our program measured around the cards, where it was asked to. */
  readonly host?: Inventory['host']
}

/** Proven totals over the cards of a box, and what was measured around them. Nothing here is a claim; a CPU is no card. */
export function scoreInput({ judgement, deviceClasses, registered, allocated, host = {} }: ScoreSource): BoxScoreInput {
  const outcome = judgement.outcome === 'accepted' ? 'passed' : 'failed'
  const gpu = gpuTotals(judgement, deviceClasses)
  return { outcome, gpu, ...hostScoreFacts(host), registered, allocated, ageMs: 0 }
}

function gpuTotals({ devices, scaling }: Judgement, deviceClasses: ScoreSource['deviceClasses']): GpuScoreInput | null {
  const cards = devices.filter(({ device }) => deviceClasses[device] === 'gpu')
  if (cards.length === 0) return null
  const models = new Set(cards.map(({ identity }) => identity.model))
  const [model] = models
  return {
    count: cards.length,
    ...(models.size === 1 && model ? { model } : {}),
    rates: sumBy(cards.flatMap(({ rates }) => Object.entries(rates) as [Precision, number][])),
    sustained: sumBy(cards.flatMap(({ sustained: s }) => (s ? [[s.precision, s.perSecond] as const] : []))),
    memoryBytes: total(cards.map(({ memory }) => provenBytes(memory))),
    bandwidth: total(cards.map(({ memory }) => memory?.perSecond ?? 0)),
    ...(scaling === null ? {} : { scaling: scaling / 1000 }),
  }
}

/** §7: held memory of an unknown card counts as far as nothing else could have supplied it. */
function provenBytes(memory: Judgement['devices'][number]['memory']): number {
  if (memory === null) return 0
  return memory.status === 'proven' ? memory.heldBytes : Math.max(0, memory.floorBytes ?? 0)
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

function sumBy(entries: readonly (readonly [Precision, number])[]): Partial<Record<Precision, number>> {
  const sums: Partial<Record<Precision, number>> = {}
  for (const [name, value] of entries) sums[name] = (sums[name] ?? 0) + value
  return sums
}
