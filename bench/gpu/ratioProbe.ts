import { writeFileSync } from 'node:fs'
import type { Precision } from '../../src/core/params/precision.ts'
import { openCard } from './openCard.ts'
import { provenRatio } from './ratios.ts'

const { card } = await openCard()
const rows = []
for (const side of [16384, 32768])
  for (const precision of ['int8', 'fp8', 'bf16', 'fp16'] as Precision[]) {
    const row = provenRatio(card, precision, side, 0.9, 5, side === 16384 ? 500 : 600)
    rows.push(row)
    console.log(row.what, row.ratio, JSON.stringify(row.details))
  }
writeFileSync(`${process.env.OUT ?? '.'}/ratios.json`, JSON.stringify(rows, null, 1))
