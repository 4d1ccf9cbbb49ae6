import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import type { GpuModel, PublishedFigure } from '../../core/identify/catalogue.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'

/** Proven rates over what the vendor prints for the inferred model; null where nothing was inferred or printed. */
export function efficiencyText({ rates, memory }: DeviceJudgement, model: GpuModel | undefined): string | null {
  if (!model) return null
  const shares = [
    ...PRECISION_NAMES.map((precision) => share(precision, rates[precision], model.rates[precision])),
    share('bandwidth', memory?.perSecond, model.bandwidth),
  ].flat()
  return shares.length === 0 ? null : `of the datasheet of the ${model.name}: ${shares.join(', ')}`
}

function share(what: string, proven: number | undefined, figures: readonly PublishedFigure[] | undefined): string[] {
  const printed = (figures ?? []).filter(({ basis }) => basis === 'datasheet').map(({ value }) => value)
  if (proven === undefined || printed.length === 0) return []
  return [`${what} ${Math.round((100 * proven) / Math.max(...printed))} %`]
}
