import { readFileSync } from 'node:fs'
import { takeApart } from '../../src/core/certificate/envelope.ts'
import { receiptOf, receiptSchema } from '../../src/core/work/receipt.ts'
import { openWork } from '../../src/core/work/work.ts'
import { hasherOn } from '../../src/core/work/workEngine.ts'
import { WORK_KINDS } from '../../src/core/work/workKinds.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { openExactEngine } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import type { GivenResult } from '../../src/main/work/results/resultRule.ts'

/** A file of a result beside a receipt whose signature and patches a check has judged already. */
export async function givenResult(receiptFile: string, path: string): Promise<GivenResult> {
  const { line, evidence } = takeApart(readFileSync(receiptFile))
  const { payload } = JSON.parse(line)
  const receipt = receiptOf(receiptSchema.parse(JSON.parse(Buffer.from(payload, 'base64').toString())), evidence)!
  const { spec: text, orderId, seed } = receipt
  const work = openWork(WORK_KINDS, EXACT_OPS, { text, orderId, seed })
  return { path, work, receipt, hasher: hasherOn(await openExactEngine()), tokenizer: null, states: () => null }
}
