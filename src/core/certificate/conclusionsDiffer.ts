import { cardsOf, type StatedJudgement } from './judgementSchema.ts'

/**
 * Where two judgements of one run come to another conclusion: what a buyer would act on. Shares, expected ranges and
 * reasons may differ, and of cards that measure alike either may be named first.
 */
export function conclusionsDiffer(stated: StatedJudgement, ours: StatedJudgement): string[] {
  const differs = [
    { what: 'outcome', differ: stated.outcome !== ours.outcome },
    { what: 'claim', differ: stated.claim?.verdict !== ours.claim?.verdict },
    { what: 'count', differ: isMore(stated.count, ours.count) },
    ...stated.devices.flatMap((device, i) => {
      const other = ours.devices[i]
      if (!other) return [{ what: `device ${i}`, differ: true }]
      return [
        { what: `device ${i} identity`, differ: !sameCard(device.identity, other.identity) },
        { what: `device ${i} memory`, differ: device.memory?.status === 'proven' && other.memory?.status !== 'proven' },
      ]
    }),
  ]
  return differs.filter(({ differ }) => differ).map(({ what }) => what)
}

/** More cards than the reader finds: established, or at the least (attack 115). */
const isMore = (stated: StatedJudgement['count'], ours: StatedJudgement['count']): boolean =>
  (stated.established && !ours.established) || stated.least > ours.least

type Identity = StatedJudgement['devices'][number]['identity']

/** The signer said nothing about a card he did not know: that the reader knows it by now is not a contradiction. */
function sameCard(stated: Identity, ours: Identity): boolean {
  if (stated.status === 'unknown') return ours.status === 'unknown' || ours.status === 'identified'
  if (stated.status !== ours.status) return false
  const known = cardsOf(stated)
  const found = cardsOf(ours)
  return known.length === 0 ? found.length === 0 : known.some((id) => found.includes(id))
}
