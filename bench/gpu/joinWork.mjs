#!/usr/bin/env node
// From what bench/gpu/work.ts, learn.ts and torchTrain.py left in a folder to one file:
//   node bench/gpu/joinWork.mjs FOLDER > bench/results/h200-work.json
// exact.json, speed.json (work.ts --out), torch.json, learn.json, torchLearn.json; what is not there is left out.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder] = process.argv.slice(2)
const read = (name) => {
  const path = join(folder, name)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}
const [exact, speed, torch, learn, torchLearn] = ['exact', 'speed', 'torch', 'learn', 'torchLearn'].map((name) =>
  read(`${name}.json`),
)
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
/** The loss of a step depends on its windows: means over so many steps, the same windows on both sides. */
const LAST = 100
const curve = (losses) => losses.filter((_, i) => i % LAST === LAST - 1 || i === 0)

const out = { exact, fused: speed, pytorch: torch }
if (speed?.large && torch) {
  const ours = speed.large.tokensPerSecond
  const rows = Object.entries(torch).filter(([, { tokensPerSecond }]) => tokensPerSecond !== undefined)
  out.ratio = Object.fromEntries(rows.map(([name, { tokensPerSecond }]) => [name, ours / tokensPerSecond]))
}
if (learn && torchLearn) {
  const [ours, theirs] = [learn, torchLearn].map(({ losses }) => mean(losses.slice(-LAST)))
  out.loss = {
    ...{ text: learn.text, bytes: learn.bytes, steps: learn.losses.length, lastSteps: LAST },
    ...{ ours, pytorch: theirs, difference: ours / theirs - 1 },
    ...{ seconds: { ours: learn.seconds, pytorch: torchLearn.seconds } },
    ...{ curve: { ours: curve(learn.losses), pytorch: curve(torchLearn.losses) } },
  }
}
process.stdout.write(`${JSON.stringify(out, null, 1)}\n`)
