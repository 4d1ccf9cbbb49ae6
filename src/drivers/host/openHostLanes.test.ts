import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha512 } from '@noble/hashes/sha2.js'
import { shake128 } from '@noble/hashes/sha3.js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { ascii, concatBytes, u32le } from '../../core/bytes/bytes.ts'
import { HOST_BLOCK_BYTES, type HostTarget, MARK_BYTES, ROUNDS_PER_STEP } from '../../core/params/hostParts.ts'
import type { HostLanes } from '../../ports/hostLanes.ts'
import { chooseRounds, openRounds, wasmRounds } from './hostRounds.ts'
import { holds } from './hostWalk.ts'
import { openHostLanes } from './openHostLanes.ts'
import { openWalkChecker } from './openWalkChecker.ts'

const random = seededRandomness(11)
const [seed, nonce] = [random.bytes(32), random.bytes(32)]
const signal = new AbortController().signal

let folder: string
let lanes: HostLanes
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-lanes-'))
  lanes = openHostLanes(folder)
})
afterEach(async () => {
  await lanes.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Until every lane has a mark: how long that takes is the machine's affair. */
async function someMarks(stride: number, count: number): Promise<readonly Uint8Array[]> {
  for (let waitMs = 20; ; waitMs *= 2) {
    await lanes.walk({ nonce, lanes: count, stride })
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    const marks = await lanes.halt()
    if (marks.every((lane) => lane.length > 0)) return marks
  }
}

/** §12 once more, from other hands. */
function stepsFrom(lane: number, steps: number, blocks: number): Uint8Array {
  const start = sha512(concatBytes(ascii('tsp2/host-lane'), nonce, u32le(lane)))
  let at: Uint8Array = start
  for (let i = 0; i < steps; i++) {
    const index = new DataView(at.buffer, at.byteOffset).getUint32(0, true) % blocks
    const block = shake128(concatBytes(ascii('tsp2/host-block'), seed, u32le(index)), { dkLen: HOST_BLOCK_BYTES })
    at = sha512(concatBytes(at, start, block))
  }
  return at
}

const WORD = (1n << 64n) - 1n

/** And its rounds, in numbers without end. */
function roundsFrom(at: Uint8Array, table: Uint8Array, rounds: number): Uint8Array {
  const wordsOf = (bytes: Uint8Array) => [...new BigUint64Array(bytes.slice().buffer)]
  const words = wordsOf(table)
  let state = wordsOf(at)
  for (let i = 0; i < rounds; i++) {
    const found = state.map((word) => words[Number((word >> 3n) & 4095n)]!)
    state = state.map((word, w) => (((word << 21n) & WORD) + (word >> 43n) + found[(w + 1) % 8]!) & WORD)
  }
  return new Uint8Array(BigUint64Array.from(state).buffer)
}

/**
 * A state of eight equal words that no round changes, or null: rotl(w, 21) is 2^21 w mod 2^64 - 1, so w = rotl(w, 21) + t is
 * solved by a division, and an entry whose w looks it up again is found in most tables.
 */
function unchanging(table: Uint8Array): Uint8Array | null {
  const inverse = inverseOf(WORD + 1n - (1n << 21n), WORD)
  for (const [entry, word] of new BigUint64Array(table.slice().buffer).entries())
    for (const carried of [word, word + WORD - 1n]) {
      const w = (carried * inverse) % WORD
      const next = (((w << 21n) & WORD) + (w >> 43n) + word) & WORD
      if (next === w && Number((w >> 3n) & 4095n) === entry)
        return new Uint8Array(BigUint64Array.from({ length: 8 }, () => w).buffer)
    }
  return null
}

function inverseOf(value: bigint, modulus: bigint): bigint {
  let [rest, left, factor, other] = [modulus, value, 0n, 1n]
  while (left > 0n) {
    const times = rest / left
    ;[rest, left] = [left, rest - times * left]
    ;[factor, other] = [other, factor - times * other]
  }
  return ((factor % modulus) + modulus) % modulus
}

const tableOf = (lane: number) => shake128(concatBytes(ascii('tsp2/host-table'), nonce, u32le(lane)), { dkLen: 32_768 })
const startOf = (lane: number) => sha512(concatBytes(ascii('tsp2/host-lane'), nonce, u32le(lane)))

const rounds = await openRounds(await chooseRounds())
const stretchOf = (target: HostTarget, blocks: number, lane: number, to: Uint8Array, steps: number) => ({
  target,
  seed,
  blocks,
  nonce,
  lane,
  from: null,
  to,
  steps,
})

describe('host lanes', () => {
  test.each(['memory', 'disk'] as const)('walk over blocks in %s as the specification says', async (target) => {
    const blocks = 5
    await lanes.store({ target, seed, blocks, lanes: 2 }, signal)
    const marks = await someMarks(2, 2)
    expect(marks).toHaveLength(2)
    for (const [lane, bytes] of marks.entries()) {
      expect(bytes.length % MARK_BYTES).toBe(0)
      const first = bytes.subarray(0, MARK_BYTES)
      expect(Buffer.from(first)).toEqual(Buffer.from(stepsFrom(lane, 2, blocks)))
      const stretch = stretchOf(target, blocks, lane, first, 2)
      // Attack 421: the same steps of another lane lead elsewhere.
      expect(holds({ ...stretch, from: startOf(lane), lane: lane + 1 }, rounds)).toBe(false)
      expect(holds(stretch, rounds)).toBe(true)
      expect(holds({ ...stretch, steps: 3 }, rounds)).toBe(false)
    }
  })

  test('attack 425: lanes of a processor have a table each, and all its kernels walk as the specification says', async () => {
    const { wasm, native } = await chooseRounds()
    const kernels = [await wasmRounds(wasm), await openRounds({ wasm, native })]
    for (const kernel of kernels)
      for (const count of [0, 1, 2, 3, 1000])
        expect(kernel(startOf(0), tableOf(0), count)).toEqual(roundsFrom(startOf(0), tableOf(0), count))

    await lanes.store({ target: 'cpu', seed, blocks: 1, lanes: 2 }, signal)
    const marks = await someMarks(2, 2)
    for (const [lane, bytes] of marks.entries()) {
      const first = bytes.subarray(0, MARK_BYTES)
      const step = (at: Uint8Array) =>
        sha512(concatBytes(kernels[0]!(at, tableOf(lane), ROUNDS_PER_STEP), startOf(lane)))
      expect(Buffer.from(first)).toEqual(Buffer.from(step(step(startOf(lane)))))
      const stretch = stretchOf('cpu', 1, lane, first, 2)
      expect(holds(stretch, rounds)).toBe(true)
      expect(holds({ ...stretch, steps: 3 }, rounds)).toBe(false)
      expect(holds({ ...stretch, from: startOf(lane), lane: 1 - lane }, rounds)).toBe(false)
    }
  })

  test('attack 464: a state that no round changes is not one where a lane may stand', () => {
    const found = Array.from({ length: 16 }, (_, lane) => ({ lane, state: unchanging(tableOf(lane)) })).filter(
      ({ state }) => state !== null,
    )
    expect(found.length).toBeGreaterThan(0)
    for (const { lane, state } of found) {
      expect(Buffer.from(rounds(state!, tableOf(lane), 1000))).toEqual(Buffer.from(state!))
      expect(holds({ ...stretchOf('cpu', 1, lane, state!, 1), from: state!, to: state! }, rounds)).toBe(false)
    }
  })

  test('attack 76: the file has no name while it is read, so that nothing is left of it however we end', async () => {
    await lanes.store({ target: 'disk', seed, blocks: 2, lanes: 1 }, signal)
    expect(readdirSync(folder)).toEqual([])
    await someMarks(1, 1)
    await lanes.close()
    expect(readdirSync(folder)).toEqual([])
  })

  test('what is too large or out of turn is refused with a code, and the next order is carried out', async () => {
    const task = { target: 'memory', seed, blocks: 1, lanes: 1 } as const
    const code = (value: unknown) => (value as { detail?: { code: string } }).detail?.code
    const refusals = [
      lanes.halt(),
      lanes.walk({ nonce, lanes: 1, stride: 1 }),
      lanes.store({ ...task, blocks: 0 }, signal),
      lanes.store({ ...task, blocks: 2 ** 20 }, signal),
      lanes.store({ ...task, lanes: 1000 }, signal),
    ]
    for (const refused of await Promise.allSettled(refusals))
      expect(refused.status === 'rejected' && code(refused.reason)).toBe('HOST_ORDER_REFUSED')
    await lanes.store(task, signal)
    await expect(lanes.walk({ nonce, lanes: 2, stride: 1 })).rejects.toThrow('more lanes')
    expect((await someMarks(1, 1))[0]!.length).toBeGreaterThan(0)
  })
})

test('the checker names a stretch that does not lead where it says, and can be used by several at once', async () => {
  const checker = openWalkChecker(2)
  const stretch = (lane: number, steps: number) => stretchOf('memory', 3, lane, stepsFrom(lane, 1, 3), steps)
  try {
    const asked = [[stretch(0, 1), stretch(1, 1)], [stretch(0, 1), stretch(1, 2)], []]
    expect(await Promise.all(asked.map((stretches) => checker.check(stretches, signal)))).toEqual([null, 1, null])
  } finally {
    await checker.close()
  }
})
