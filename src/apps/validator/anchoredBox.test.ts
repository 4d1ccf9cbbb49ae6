import { expect, test } from 'vitest'
import { smallCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { honestProgram } from '../../../test/support/inProcessBox.ts'
import { openReferenceDevice } from '../../../test/support/openReferenceDevice.ts'
import { fileOf, readerRules } from '../../../test/support/problemOf.ts'
import { verifyInProcess } from '../../../test/support/verifyInProcess.ts'
import { checkCertificate } from '../../core/certificate/checkCertificate.ts'
import { readCertificate } from '../../core/certificate/readEvidence.ts'
import type { ChainAnchor, FinalBlock } from '../../ports/chainAnchor.ts'

const catalogue = await smallCatalogue()
const blockAt = (height: number, chain = 'ts1/test'): FinalBlock => ({
  chain,
  height,
  hash: new Uint8Array(32).fill(height),
})

/** A run of two parts, and what its certificate says of the chain. */
async function run(anchor?: ChainAnchor) {
  const program = honestProgram({ devices: [openReferenceDevice()] })
  const options = { precisions: ['int8', 'fp32'] as const }
  const { certificate } = await verifyInProcess({ program, catalogue, options, ...(anchor ? { anchor } : {}) })
  const checked = await checkCertificate(fileOf(certificate), readerRules(catalogue), () => null)
  const read = readCertificate(certificate, () => true)
  if ('code' in read) throw new Error(read.code)
  return { problem: checked.problem, ...read }
}

test.each([
  ['keeps us waiting', () => new Promise<void>(() => {})],
  ['fails', () => Promise.reject(new Error('gone'))],
  [
    'throws',
    () => {
      throw new Error('gone')
    },
  ],
])('attack 460: a box whose way out %s is what it was found to be', async (_, close) => {
  const program = honestProgram({ devices: [openReferenceDevice()] })
  const { judgement } = await verifyInProcess({ program, catalogue, close })
  expect(judgement.outcome).toBe('accepted')
})

/** Block after block, one each time somebody asks. */
const growing = (blocks: readonly (FinalBlock | null)[]): ChainAnchor & { asked: number } => ({
  asked: 0,
  latest() {
    return blocks[this.asked++] ?? null
  },
})

test('§10: each S_p is drawn with the latest final block when it goes out, and the certificate says which', async () => {
  const anchor = growing([blockAt(7), blockAt(8)])
  const { problem, statement } = await run(anchor)
  expect(problem).toBeNull()
  expect(statement.predicate.anchor).toMatchObject({
    chain: 'ts1/test',
    parts: [
      { height: 7, block: '07'.repeat(32) },
      { height: 8, block: '08'.repeat(32) },
    ],
  })
  // Calibrations, where there are any, ask for none: their results are thrown away.
  expect(anchor.asked).toBe(2)
  const [one, two] = statement.predicate.anchor!.parts
  expect(one!.random).not.toBe(two!.random)
})

test.each<[string, readonly (FinalBlock | null)[]]>([
  ['no block at all', []],
  ['none for the second part', [blockAt(7), null]],
  ['none for the first part', [null, blockAt(8)]],
  ['blocks of two chains', [blockAt(7), blockAt(8, 'another')]],
])('with %s the run goes on and is tied to nothing', async (_, blocks) => {
  const { problem, statement } = await run(growing(blocks))
  expect(problem).toBeNull()
  expect(statement.predicate).not.toHaveProperty('anchor')
})

test('without a chain nothing changes', async () => {
  expect((await run()).statement.predicate).not.toHaveProperty('anchor')
})
