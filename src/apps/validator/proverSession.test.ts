import { MessageChannel } from 'node:worker_threads'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BytePipe } from '../../../test/support/bytePipe.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { VirtualClock } from '../../../test/support/virtualClock.ts'
import { encodeFrame } from '../../core/wire/frames.ts'
import type { Answer } from '../../core/wire/messages.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import type { ProverProcess } from '../../ports/remoteBox.ts'
import { ProverSession, readTelemetry } from './proverSession.ts'

const never = new AbortController().signal

function open() {
  const clock = new VirtualClock()
  const output = new BytePipe()
  const written: Uint8Array[] = []
  const process: ProverProcess = {
    write: async (bytes) => void written.push(bytes),
    output,
    ended: new Promise(() => {}),
    stop: async () => output.end(),
  }
  return { clock, output, written, session: new ProverSession(process, clock) }
}

const root = (index: number): Answer => ({ type: 'root', part: 0, device: 0, index, root: new Uint8Array(32) })

describe('a session', () => {
  test('property: answers come in order, each stamped between the look before it and the look after it', async () => {
    const step = fc.oneof(fc.constant('send' as const), fc.constant('read' as const), fc.integer({ min: 1, max: 500 }))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, output, session } = open()
        const sent: { at: number; index: number }[] = []
        const readOne = async () => {
          const { at, index } = sent.shift()!
          const event = await session.next(clock.monotonicUs() + 1_000_000, never)
          expect(event).toMatchObject({ kind: 'answer', answer: { type: 'root', index } })
          expect(event.atUs).toBeGreaterThanOrEqual(at)
          expect(event.atUs).toBeLessThan(clock.monotonicUs())
        }
        let index = 0
        for (const now of steps)
          if (now === 'send') {
            sent.push({ at: clock.monotonicUs(), index })
            await output.write(encodeFrame(root(index++)))
          } else if (now !== 'read') await clock.sleep(now)
          else if (sent.length > 0) await readOne()
        while (sent.length > 0) await readOne()
        expect((await session.next(clock.monotonicUs() + 5000, never)).kind).toBe('timeout')
        await session.stop()
      }),
      { numRuns: 40 },
    )
  })

  test('attack 447: a transport that stamps by itself is believed, and what came in time is in time', async () => {
    const { port1: far, port2: near } = new MessageChannel()
    const pieces: Uint8Array[] = []
    let wake = () => {}
    near.on('message', (bytes: Uint8Array) => {
      pieces.push(bytes)
      wake()
    })
    async function* output(): AsyncGenerator<Uint8Array> {
      for (;;) {
        const piece = pieces.shift()
        if (piece) yield piece
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    }
    const process = {
      write: async () => {},
      output: output(),
      ended: new Promise<never>(() => {}),
      stop: async () => {},
    }
    const session = new ProverSession({ ...process, cameUs: () => 77 }, systemClock)
    const deadlineUs = systemClock.monotonicUs() + 20_000
    const next = session.next(deadlineUs, never)
    far.postMessage(encodeFrame(root(0)))
    while (systemClock.monotonicUs() < deadlineUs + 20_000) {}
    expect(await next).toMatchObject({ kind: 'answer', atUs: 77 })
    far.close()
  })

  test('a stamp is the time of arrival, however late it is read', async () => {
    const { clock, output, session } = open()
    await output.write(encodeFrame(root(0)))
    const arrived = clock.monotonicUs()
    await clock.sleep(10_000)
    const event = await session.next(clock.monotonicUs(), never)
    expect(event.kind).toBe('answer')
    expect(event.atUs - arrived).toBeLessThan(100)
  })

  test('silence ends at the deadline, not before and not much after', async () => {
    const { clock, session } = open()
    const from = clock.monotonicUs()
    const event = await session.next(from + 7_000_000, never)
    expect(event.kind).toBe('timeout')
    expect(event.atUs - from).toBeGreaterThanOrEqual(7_000_000)
    expect(event.atUs - from).toBeLessThan(7_001_000)
  })

  test('noise, half a message and the end stay what they are, for ever', async () => {
    for (const [bytes, kind] of [
      [new TextEncoder().encode('hello world'), 'malformed'],
      [encodeFrame(root(0)).subarray(0, 9), 'ended'],
      [new Uint8Array(0), 'ended'],
    ] as const) {
      const { clock, output, session } = open()
      await output.write(bytes)
      output.end()
      for (let i = 0; i < 3; i++) expect((await session.next(clock.monotonicUs() + 1000, never)).kind).toBe(kind)
    }
  })

  test('what came before the noise is still read first', async () => {
    const { clock, output, session } = open()
    await output.write(encodeFrame(root(0)))
    await output.write(new TextEncoder().encode('Segmentation fault\n'))
    expect((await session.next(clock.monotonicUs() + 1000, never)).kind).toBe('answer')
    const event = await session.next(clock.monotonicUs() + 1000, never)
    expect(event).toMatchObject({ kind: 'malformed' })
    expect(JSON.stringify(event)).not.toContain('Segmentation')
  })

  test('attack 433: samples are read a few at a time, and others are heard in between', async () => {
    const sample = new TextEncoder().encode('{"watts":300}')
    let heard = 0
    const pause = async () => {
      heard++
    }
    const samples = Array.from({ length: 1000 }, () => ({ device: 0, sample }))
    expect(await readTelemetry(samples, pause)).toHaveLength(250)
    expect(heard).toBe(16)
    expect(await readTelemetry([{ device: 0, sample: new Uint8Array(4096) }], pause)).toEqual([])
  })

  test('telemetry is kept apart, and never more than its share', async () => {
    const { output, session } = open()
    const sample = new Uint8Array(4096)
    for (let i = 0; i < 1000; i++) await output.write(encodeFrame({ type: 'telemetry', device: 0, sample }))
    const held = session.telemetry.reduce((sum, { sample: kept }) => sum + kept.length, 0)
    expect(held).toBeGreaterThan(2 ** 20)
    expect(held).toBeLessThanOrEqual(2 ** 21)
    session.forgetTelemetry()
    await output.write(encodeFrame({ type: 'telemetry', device: 0, sample }))
    await eventually(() => session.telemetry.length === 1)
    await session.stop()
  })

  test('an abort ends the wait', async () => {
    const { clock, session } = open()
    const stop = new AbortController()
    const waiting = session.next(clock.monotonicUs() + 1e12, stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})
