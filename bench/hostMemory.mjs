#!/usr/bin/env node
// What a box pays that keeps half of a memory-hard fill (docs/adr/0010): block i of a lane is computed from block i - 1 and a
// random earlier one, as in Argon2. For each way to choose the half: blocks to compute, and blocks to read, per missing one.
//   node bench/hostMemory.mjs
const COUNT = 1 << 17

/** The same numbers every time: 32-bit xorshift. */
let state = 2463534242
const uniform = () => {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) / 2 ** 32
}

const DRAWS = {
  uniform: (i) => Math.floor(uniform() * (i - 1)),
  // Argon2: nearer blocks are likelier.
  'as in Argon2': (i) => Math.floor((i - 1) * (1 - uniform() ** 2)),
}

/** What a missing block costs from the kept ones: computations, and reads of kept blocks. */
function costs(partner, keeps) {
  const work = new Float64Array(COUNT)
  const reads = new Float64Array(COUNT)
  let kept = 1
  let [missing, workSum, readSum] = [0, 0, 0]
  for (let i = 1; i < COUNT; i++) {
    const [a, b] = [i - 1, partner[i]]
    const cost = 1 + work[a] + work[b]
    const read = (work[a] === 0 ? 1 : reads[a]) + (work[b] === 0 ? 1 : reads[b])
    if (keeps(i, cost)) {
      kept++
      continue
    }
    work[i] = cost
    reads[i] = read
    missing++
    workSum += cost
    readSum += read
  }
  return { share: kept / COUNT, work: workSum / missing, reads: readSum / missing }
}

/** Keeps what would be dear: the threshold, with a part of the ties, that leaves just half. */
function dearest(partner) {
  let best = null
  for (let threshold = 1; threshold <= 8; threshold++)
    for (let tie = 0; tie <= 1; tie += 1 / 64) {
      let due = 0
      const found = costs(partner, (_, cost) => {
        if (cost !== threshold) return cost > threshold
        due += tie
        if (due < 1) return false
        due--
        return true
      })
      if (found.share <= 0.5 && (best === null || found.work < best.work)) best = found
    }
  return best
}

for (const [name, draw] of Object.entries(DRAWS)) {
  const partner = Uint32Array.from({ length: COUNT }, (_, i) => (i < 2 ? 0 : draw(i)))
  const rows = { 'every second block': costs(partner, (i) => i % 2 === 0), 'the dearest half': dearest(partner) }
  for (const [how, { share, work, reads }] of Object.entries(rows))
    console.log(
      `partners ${name}, keeps ${how} (${(100 * share).toFixed(1)} %): ${work.toFixed(2)} blocks computed and ${reads.toFixed(2)} read per missing one`,
    )
}
