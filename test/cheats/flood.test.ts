import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { ProverSession } from '../../src/apps/validator/proverSession.ts'
import { concatBytes, u32le } from '../../src/core/bytes/bytes.ts'
import { encodeFrame } from '../../src/core/wire/frames.ts'
import { CODECS } from '../../src/core/wire/messages.ts'
import type { ProverProcess } from '../../src/ports/remoteBox.ts'
import { BytePipe } from '../support/bytePipe.ts'
import { VirtualClock } from '../support/virtualClock.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const heldBytes = (): number => {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const FLOOD_BYTES = 50 * 2 ** 20
/** Of the 2 MiB that a session keeps of telemetry, with what its arrays take beside the samples. */
const FLAT_BYTES = 3 * 2 ** 20

function processOf(output: AsyncIterable<Uint8Array>): ProverProcess {
  return { write: async () => {}, output, ended: new Promise(() => {}), stop: async () => {} }
}

/** Writes such bytes again and again until the flood is over or nobody takes any more; says how much went. */
async function flood(pipe: BytePipe, chunk: Uint8Array, total = FLOOD_BYTES): Promise<number> {
  let written = 0
  let last = -1
  while (written < total && written !== last) {
    last = written
    // Bytes of its own, as a line has them: who keeps a view of some keeps all of them.
    const taken = pipe.write(chunk.slice()).then(() => {
      written += chunk.length
    })
    await Promise.race([taken, new Promise((resolve) => setImmediate(resolve))])
  }
  return written
}

const telemetry = (bytes: number): Uint8Array =>
  encodeFrame({ type: 'telemetry', device: 0, sample: new Uint8Array(bytes).fill(0x20) })
const root = encodeFrame({ type: 'root', part: 0, device: 0, index: 0, root: new Uint8Array(32) })
const many = (frame: Uint8Array): Uint8Array =>
  concatBytes(...Array<Uint8Array>(Math.ceil(65_536 / frame.length)).fill(frame))

test('attack 12: 50 MB of telemetry leave memory flat while the validator waits', async () => {
  const pipe = new BytePipe()
  const session = new ProverSession(processOf(pipe), new VirtualClock())
  expect(await flood(pipe, many(telemetry(4096)))).toBeGreaterThanOrEqual(FLOOD_BYTES)
  // Counted by what is kept, not by the heap: when a collector gives bytes back is its own affair.
  const kept = new Set(session.telemetry.map(({ sample }) => sample.buffer))
  expect([...kept].reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThan(FLAT_BYTES)
  expect(session.telemetry.length).toBeGreaterThan(100)
  expect(pipe.heldBytes).toBeLessThan(2 ** 20)
  await session.stop()
})

test.each([
  ['telemetry', telemetry(0)],
  ['answers about the host', encodeFrame({ type: 'unable', code: 'A', text: '' })],
])('attack 147: half a million empty messages of %s end the session of who sends them', async (_, frame) => {
  const pipe = new BytePipe()
  const clock = new VirtualClock()
  const session = new ProverSession(processOf(pipe), clock)
  expect(await flood(pipe, many(frame), FLOOD_BYTES / 10)).toBeLessThan(2 ** 20)
  const said = await session.next(clock.monotonicUs() + 1000, new AbortController().signal)
  expect(said).toMatchObject({ kind: 'malformed', what: 'more messages than anyone asked for' })
  await session.stop()
})

test('attack 429: an answer about the host that nobody asked for ends the session: it is dear to read', async () => {
  const pipe = new BytePipe()
  const clock = new VirtualClock()
  const session = new ProverSession(processOf(pipe), clock)
  const next = () => session.next(clock.monotonicUs() + 1000, new AbortController().signal)
  const walked = encodeFrame({ type: 'walked', lanes: Array.from({ length: 256 }, () => new Uint8Array(0)) })
  await session.send({ type: 'halt' })
  await pipe.write(walked)
  expect((await next()).kind).toBe('timeout')
  await pipe.write(walked)
  expect(await next()).toMatchObject({ kind: 'malformed', what: 'more messages than anyone asked for' })
  await session.stop()
})

test('attack 147: 32 devices that tell of themselves four times a second for five minutes do not', async () => {
  const pipe = new BytePipe()
  const clock = new VirtualClock()
  const session = new ProverSession(processOf(pipe), clock)
  const second = concatBytes(...Array<Uint8Array>(128).fill(telemetry(0)))
  for (let i = 0; i < 300; i++) {
    await pipe.write(second)
    await clock.sleep(1000)
  }
  expect((await session.next(clock.monotonicUs() + 1000, new AbortController().signal)).kind).toBe('timeout')
  await session.stop()
})

test('attack 12: answers nobody reads are left in the pipe', async () => {
  const pipe = new BytePipe()
  const session = new ProverSession(processOf(pipe), new VirtualClock())
  expect(await flood(pipe, many(root))).toBeLessThan(2 ** 20)
  await session.stop()
})

const opened = (bytes: number): Uint8Array =>
  encodeFrame({ type: 'opened', part: 0, device: 0, paths: new Uint8Array(bytes) })
const LARGEST = CODECS.opened.limit - 8

test('attack 446: of the largest answers nobody reads, all but a few are left in the pipe', async () => {
  const pipe = new BytePipe()
  const session = new ProverSession(processOf(pipe), new VirtualClock())
  // One is waiting, one is beyond the bound, one is in the pipe: 16 of them would be 109 MB.
  expect(await flood(pipe, opened(LARGEST), 16 * LARGEST)).toBeLessThan(4 * LARGEST)
  await session.stop()
})

test('attack 446: the openings of 32 cards wait at once, and what waits behind the bound comes whole and in order', async () => {
  const pipe = new BytePipe()
  const clock = new VirtualClock()
  const session = new ProverSession(processOf(pipe), clock)
  // 128 openings in the deepest trees that there are.
  const one = LARGEST / 32
  expect(await flood(pipe, opened(one), 32 * one)).toBeGreaterThanOrEqual(32 * one)
  const more = Array.from({ length: 64 }, (_, device) =>
    encodeFrame({ type: 'opened', part: 1, device, paths: new Uint8Array(one).fill(device) }),
  )
  const writing = (async () => {
    for (const frame of more) await pipe.write(frame)
  })()
  const next = async () => {
    const event = await session.next(clock.monotonicUs() + 1e6, new AbortController().signal)
    return event.kind === 'answer' && event.answer.type === 'opened' ? event.answer : null
  }
  for (let i = 0; i < 32; i++) expect((await next())?.part).toBe(0)
  for (let device = 0; device < 64; device++) {
    const answer = await next()
    expect(answer).toMatchObject({ part: 1, device })
    expect(answer?.paths.every((byte) => byte === device)).toBe(true)
  }
  await writing
  await session.stop()
})

test('attack 446: where our own memory is at an end that is our fault; a line that breaks is the end of the box', async () => {
  const clock = new VirtualClock()
  const hear = (output: () => AsyncGenerator<Uint8Array>) => {
    const session = new ProverSession(processOf(output()), clock)
    const next = () => session.next(clock.monotonicUs() + 1000, new AbortController().signal)
    return { session, next }
  }
  const full = hear(async function* () {
    yield root
    // More than any machine has: what is thrown is what a machine without memory throws.
    yield { length: 2 ** 52 } as Uint8Array
  })
  expect((await full.next()).kind).toBe('answer')
  await expect(full.next()).rejects.toThrow(RangeError)
  await expect(full.next()).rejects.toThrow(RangeError)
  const asked = full.session.askHost({ type: 'halt' }, 1000, new AbortController().signal)
  await expect(asked).rejects.toThrow(RangeError)
  const broken = hear(async function* () {
    yield root
    throw new Error('ECONNRESET')
  })
  expect((await broken.next()).kind).toBe('answer')
  expect((await broken.next()).kind).toBe('ended')
})

test('attack 45: a message that comes byte by byte takes no more than its own size, and starts one timer', async () => {
  const pipe = new BytePipe()
  let timers = 0
  class CountingClock extends VirtualClock {
    override sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
      timers++
      return super.sleep(milliseconds, signal)
    }
  }
  const clock = new CountingClock()
  const session = new ProverSession(processOf(pipe), clock)
  const before = heldBytes()
  await pipe.write(concatBytes(u32le(CODECS.opened.limit + 1), Uint8Array.of(CODECS.opened.id)))
  const waiting = session.next(clock.monotonicUs() + 1e9, new AbortController().signal)
  const byte = Uint8Array.of(0)
  for (let i = 0; i < 100_000; i++) await pipe.write(byte)
  expect(timers).toBe(1)
  expect(heldBytes() - before).toBeLessThan(4 * 2 ** 20)
  expect((await waiting).kind).toBe('timeout')
  await session.stop()
})

test('attack 40: a box that stops reading does not hold the validator', async () => {
  const clock = new VirtualClock()
  const deaf = { ...processOf(new BytePipe()), write: () => new Promise<void>(() => {}) }
  const session = new ProverSession(deaf, clock)
  const from = clock.monotonicUs()
  const sentUs = await session.send({ type: 'hello' })
  expect(sentUs - from).toBeLessThan(1000)
  expect((await session.next(sentUs + 60e6, new AbortController().signal)).kind).toBe('timeout')
  expect(clock.monotonicUs() - from).toBeLessThan(61e6)
})
