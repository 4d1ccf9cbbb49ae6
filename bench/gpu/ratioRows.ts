/** Some rows of bench.ts by themselves, for comparing two builds: node ratioRows.js int8:32768 fp8:16384 … prints one JSON line. */
import type { Precision } from '../../src/core/params/precision.ts'
import { openCard } from './openCard.ts'
import { provenRatio } from './ratios.ts'

const { card } = await openCard()
const rows = process.argv.slice(2).map((argument) => {
  const [precision, side] = argument.split(':') as [Precision, string]
  const { value, details } = provenRatio(card, precision, Number(side), 0)
  card.release()
  return { row: argument, ratio: value, bareTeraOps: details.bareTeraOps, provenTeraOps: details.provenTeraOps }
})
card.close()
console.log(JSON.stringify(rows))
