// A real model on the NVIDIA cards of this machine: every operation against the CPU, then training and inference.
//   node workload.js [--models medium,large] [--steps 12] [--text FILE] [--out FILE]
// Packed by bench/gpu/pack.mjs. Ends with 1 when an operation differs from the CPU by more than the tolerance it prints.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeFreshCheckpoint } from '../../src/apps/workload/checkpoint.ts'
import { runWorkload, type WorkloadOptions } from '../../src/apps/workload/runWorkload.ts'
import { formatOps } from '../../src/core/units/format.ts'
import { MODEL_SHAPES, type ModelName } from '../../src/core/workload/modelShape.ts'
import { openCpuTensors } from '../../src/drivers/gpu/cpu/workload/openCpuTensors.ts'
import { openCudaTensors } from '../../src/drivers/gpu/cuda/workload/openCudaTensors.ts'
import { createWritable, openReadable } from '../../src/drivers/system/fileAccess.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import type { TensorDevice } from '../../src/ports/tensorDevice.ts'
import { TENSOR_TRIALS, worstDifference } from '../../test/support/tensorTrials.ts'

const { values } = parseArgs({
  options: {
    models: { type: 'string', default: 'medium,large' },
    sequences: { type: 'string', default: '16' },
    steps: { type: 'string', default: '12' },
    text: { type: 'string' },
    out: { type: 'string' },
  },
})
/** Largest difference allowed, over the largest value: one operation; and the whole model, where rounding adds up. */
const TOLERANCE = { single: 1e-4, deep: 1e-2 }
const folder = mkdtempSync(join(tmpdir(), 'touchstone-workload-'))
const never = new AbortController().signal

async function compare(device: TensorDevice) {
  const reference = openCpuTensors({ operands: 'bf16' })
  const rows = []
  for (const trial of TENSOR_TRIALS) {
    const worst = worstDifference(await trial.run(device), await trial.run(reference))
    const allowed = trial.deep ? TOLERANCE.deep : TOLERANCE.single
    const passed = worst <= allowed
    rows.push({ trial: trial.name, worst, allowed, passed })
    console.log(
      `${passed ? 'ok  ' : 'FAIL'} ${worst.toExponential(1).padStart(8)} of ${allowed} allowed  ${trial.name}`,
    )
  }
  return rows
}

/** The sources of this program, if no text is named: enough to read and learn from. */
function ownText(): string {
  const path = join(folder, 'text')
  const files = readdirSync('.', { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(src|docs|test|kernels)\/.*\.(ts|md|h|cu|c)$/.test(name))
    .sort()
  writeFileSync(path, files.map((name) => readFileSync(name, 'utf8')).join('\n'))
  return path
}

function optionsFor(model: ModelName, sequences: number): WorkloadOptions {
  const shape = MODEL_SHAPES[model]
  return {
    shape,
    sequences,
    tokens: shape.context,
    epochs: 3,
    maxSteps: Number(values.steps),
    rate: 3e-4,
    seed: 1,
    inference: { sequences: 16, promptTokens: shape.context / 2, newTokens: Math.min(128, shape.context / 2) },
    bareSize: model === 'tiny' ? 64 : 8192,
    bareSeconds: 1,
  }
}

async function measure(devices: readonly TensorDevice[], model: ModelName, sequences: number, text: string) {
  const path = join(folder, `${model}.safetensors`)
  const fresh = await createWritable(path)
  await writeFreshCheckpoint(MODEL_SHAPES[model], 1, fresh)
  await fresh.close()
  const files = { text: await openReadable(text), checkpoint: await openReadable(path) }
  const tuned = await createWritable(join(folder, `${model}-tuned.safetensors`))
  const report = await runWorkload(
    optionsFor(model, sequences),
    { devices, clock: systemClock, ...files, tuned },
    never,
  )
  for (const file of [files.text, files.checkpoint, tuned]) await file.close()
  const { training, inference, utilisation, bareOpsPerSec } = report
  console.log(`${model} on ${devices.length}: bare product ${formatOps(bareOpsPerSec)} (measured, not proven)`)
  const percent = (part: number) => `${(100 * part).toFixed(1)} % of bare`
  console.log(
    `  training ${training.tokensPerSec.toFixed(0)} tokens/s, ${formatOps(training.flopPerSec)}, ${percent(utilisation.training)}, loss ${training.firstLoss.toFixed(3)} -> ${training.lastLoss.toFixed(3)}`,
  )
  console.log(`  prefill  ${inference.prefillTokensPerSec.toFixed(0)} tokens/s, ${percent(utilisation.prefill)}`)
  console.log(`  decode   ${inference.decodeTokensPerSec.toFixed(0)} tokens/s, ${percent(utilisation.decode)}`)
  return { model, sequences, ...report }
}

const text = values.text ?? ownText()
try {
  const devices = openCudaTensors()
  const comparison = await compare(devices[0]!)
  const models = []
  // Two contexts on one card stand in for two cards: gradients travel between them.
  const pair = openCudaTensors({ ordinals: [0, 0] })
  models.push(await measure(pair, 'small', 4, text))
  for (const device of pair) await device.close()
  for (const model of values.models.split(',') as ModelName[])
    models.push(await measure(devices, model, Number(values.sequences), text))
  for (const device of devices) await device.close()
  const command = `node bench/gpu/workload.js ${process.argv.slice(2).join(' ')}`
  const host = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length }
  const result = {
    command,
    date: new Date().toISOString(),
    proven: false,
    host,
    tolerance: TOLERANCE,
    comparison,
    models,
  }
  if (values.out) writeFileSync(values.out, `${JSON.stringify(result, null, 2)}\n`)
  if (comparison.some(({ passed }) => !passed)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
