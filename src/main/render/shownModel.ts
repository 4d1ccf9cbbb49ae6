import { cardsOf } from '../../core/certificate/judgementSchema.ts'
import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue, GpuModel } from '../../core/identify/catalogue.ts'
import { parseClaim } from '../../core/identify/parseClaim.ts'

/** Whose figures stand beside the proven ones: of models that measure alike the one that was claimed, else the first. */
export function shownModel(
  { identity }: Pick<DeviceJudgement, 'identity'>,
  claim: string | null,
  catalogue: Catalogue,
): GpuModel | undefined {
  const parsed = claim === null ? null : parseClaim(claim, catalogue)
  const claimed = parsed?.ok ? parsed.claim.models.map(({ id }) => id) : []
  const cards: readonly string[] = cardsOf(identity)
  const sold = cards.filter((card) => claimed.includes(card))
  return catalogue.models.find(({ id }) => (sold.length > 0 ? sold : cards).includes(id))
}
