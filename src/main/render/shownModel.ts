import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue, GpuModel } from '../../core/identify/catalogue.ts'
import { parseClaim } from '../../core/identify/parseClaim.ts'

/** Whose figures stand beside the proven ones: the inferred model, or of models that measure alike the one that was claimed. */
export function shownModel(
  { identity }: DeviceJudgement,
  claim: string | null,
  catalogue: Catalogue,
): GpuModel | undefined {
  const parsed = claim === null ? null : parseClaim(claim, catalogue)
  const claimed = parsed?.ok ? parsed.claim.models.map(({ id }) => id) : []
  const id = identity.twins.find((twin) => claimed.includes(twin))
  const wanted = id === undefined || claimed.includes(identity.model ?? '') ? identity.model : id
  return catalogue.models.find((model) => model.id === wanted)
}
