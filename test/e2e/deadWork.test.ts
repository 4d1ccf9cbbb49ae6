import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { signerFrom } from '../../src/core/bytes/ed25519.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { issueReceipt } from '../../src/core/certificate/receiptEvidence.ts'
import { checkReportSchema } from '../../src/core/certificate/reportSchemas.ts'
import { toInstant } from '../../src/core/units/instants.ts'
import { EngineRun } from '../../src/core/work/engineRun.ts'
import { proveWork } from '../../src/core/work/proveWork.ts'
import { encodeNpy } from '../../src/drivers/workFiles/npy.ts'
import { openHome } from '../support/commandLine.ts'
import { bytesFrom, plainEngine, plainProduct } from '../support/plainProduct.ts'

const { inFolder, touchstone } = openHome()

test('attack 161: work on zeros is not shown, whoever watched it', async () => {
  const sizes = { rows: 8, columns: 6, k: 40, block: 4 }
  const { work, given } = plainProduct(sizes, (_, bytes) => new Uint8Array(bytes))
  const run = new EngineRun(plainEngine(), work, given)
  const marks = work.ends.map((_, segment) => run.advance(segment))
  const firstRoot = new Uint8Array(32)
  const proof = await proveWork(work, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draw)))
  const watcher = signerFrom(sha256(Uint8Array.of(7)))
  const nowMs = Date.now()
  const [startedAt, issuedAt, notAfter] = [nowMs - 2000, nowMs - 1000, nowMs + 3_600_000].map(toInstant)
  const receipt = issueReceipt(
    {
      ...{ ...proof, firstRoot, marks, workId: work.workId, orderId: work.orderId, seed: work.seed, spec: work.text },
      ...{ startedAt: startedAt!, issuedAt: issuedAt!, notAfter: notAfter!, drawnBy: 'listener', elapsedUs: 1 },
      ...{ proverKey: sha256(Uint8Array.of(8)), program: 'test', device: 'test' },
    },
    watcher,
  )
  writeFileSync(inFolder('zeros.json'), receipt)
  const trust = ['--trust', toHex(watcher.publicKey)]
  const { status, stdout } = await touchstone('check', inFolder('zeros.json'), ...trust, '--json')
  expect(checkReportSchema.parse(JSON.parse(stdout))).toMatchObject({
    verdict: 'not-established',
    doubts: [{ code: 'DEAD_WORK' }],
    work: { operations: 2 * 8 * 6 * 40, liveShare: 0, credited: 0 },
  })
  expect(status).toBe(4)
})

test.each(['openings', 'sumcheck'])(
  'attack 225: whoever has zeros multiplied is told so by the run itself (%s)',
  async (method) => {
    writeFileSync(inFolder('none.npy'), encodeNpy({ type: 'i8', rows: 8, width: 40, bytes: new Uint8Array(320) }))
    const some = encodeNpy({ type: 'i8', rows: 40, width: 6, bytes: bytesFrom('some', 240) })
    writeFileSync(inFolder('some.npy'), some)
    const files = ['--out', inFolder('none.c.npy'), '--receipt', inFolder('none.receipt')]
    const operands = ['none', 'some'].map((name) => inFolder(`${name}.npy`))
    const run = ['work', 'run', 'matmul', ...operands, '--method', method, ...files]
    const { status, stdout } = await touchstone(...run, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ operations: 2 * 8 * 6 * 40, credited: 0 })
    expect(status).toBe(4)
    expect((await touchstone(...run)).stdout).toContain('[DEAD_WORK]')
  },
)
