/** Askers remembered at most; the one unseen longest goes first. */
const MOST_ASKERS = 10_000

/** A bucket of tokens per asker that refills steadily. Taking one tells the seconds to wait, which is 0 where there was one. */
export function buckets({ atOnce, perSecond }: { readonly atOnce: number; readonly perSecond: number }) {
  const kept = new Map<string, { readonly tokens: number; readonly atUs: number }>()
  return (asker: string, nowUs: number): number => {
    const { tokens, atUs } = kept.get(asker) ?? { tokens: atOnce, atUs: nowUs }
    const left = Math.min(atOnce, tokens + ((nowUs - atUs) / 1e6) * perSecond)
    kept.delete(asker)
    kept.set(asker, { tokens: left < 1 ? left : left - 1, atUs: nowUs })
    if (kept.size > MOST_ASKERS) kept.delete(kept.keys().next().value!)
    return left < 1 ? (1 - left) / perSecond : 0
  }
}
