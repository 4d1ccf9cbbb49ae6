import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openHome } from '../../../test/support/commandLine.ts'
import { runWhole } from '../../../test/support/runWhole.ts'
import { type ReadyWork, readyWork } from '../../../test/support/smallWorks.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { tinyTraining } from '../../../test/support/tinyTraining.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { issueReceipt } from '../../core/certificate/receiptEvidence.ts'
import { checkReceipt } from '../../core/work/checkReceipt.ts'
import { EngineRun } from '../../core/work/engineRun.ts'
import { cellFlags } from '../../core/work/kinds/simulation/lattice.ts'
import { flowParameters } from '../../core/work/kinds/simulation/simulation.ts'
import { proveWork } from '../../core/work/proveWork.ts'
import { patchRunner } from '../../core/work/runPatch.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'

const { inFolder, touchstone } = openHome()
const hasher = hasherOn(await openExactEngine())

function flow(): ReadyWork {
  const parameters = flowParameters({ cells: [16, 16, 16], viscosity: 0.02, velocity: [0.05, 0, 0], noise: 0.05 })
  const given = new Map([['cells', cellFlags(parameters, () => 'fluid')]])
  return readyWork({ kind: 'simulation', parameters, transitions: 8, interval: 1 }, given, hasher)
}

/** A receipt that passes, of a work whose op writes a first number of its own choice: no state depends on it. */
async function madeUp({ work, given }: ReadyWork, op: string, value: number) {
  const engine = await openExactEngine()
  const honest = EXACT_OPS[op]!
  const run: typeof honest.run = (kernels, call) => {
    const fault = honest.run(kernels, call)
    engine.view(call.outputs[0]!.at, 4).set(new Uint8Array(Float32Array.of(value).buffer))
    return fault
  }
  const lying = { ...work, ops: { ...work.ops, [op]: { ...honest, run } } }
  const worker = new EngineRun(engine, lying, given, hasher)
  const said = runWhole(work, worker)
  const runPatch = patchRunner(await openExactEngine(), EXACT_OPS)
  for (let tries = 0; tries < 20; tries++) {
    const proof = await proveWork(lying, said, worker, (draw) => sha256(Uint8Array.of(tries, draw)))
    const { workId, orderId, seed, text: spec } = work
    const receipt = { ...proof, ...said, workId, orderId, seed, spec }
    if (checkReceipt(work, receipt, runPatch).problem === null) return receipt
  }
  throw new Error('the lie was drawn every time')
}

test.each([
  ['loss', () => tinyTraining('gpt', 8, hasher), 'crossEntropy', -300],
  ['mass', flow, 'flowFigures', 1e6],
] as const)(
  'attack 444: a %s that is made up, in segments that were all drawn, is told and not shown',
  async (name, work, op, value) => {
    const [watcher, prover] = [testSigner(8), testSigner(7)]
    const at = (ms: number) => new Date(Date.now() + ms).toISOString()
    const facts = {
      ...{ startedAt: at(-60_000), issuedAt: at(-1000), notAfter: at(86_400_000), elapsedUs: 1e6 },
      ...{ proverKey: prover.publicKey, program: 'test', device: 'test', drawnBy: 'listener' as const },
    }
    writeFileSync(inFolder(name), issueReceipt({ ...(await madeUp(work(), op, value)), ...facts }, watcher))
    const { status, stdout } = await touchstone('check', inFolder(name), '--trust', toHex(watcher.publicKey))
    expect(stdout).toMatch(new RegExp(` {2}${name} +\\S+( \\S)? first \\(told\\), \\S+( \\S)? last \\(told\\)`))
    expect([status, stdout]).toEqual([0, expect.not.stringContaining('(shown)')])
  },
)
