import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { heardAt, type Stall } from './stampMessages.ts'
import { systemClock } from './systemClock.ts'
import { watchStalls } from './watchStalls.ts'

function keepBusy(forUs: number): number {
  const fromUs = systemClock.monotonicUs()
  while (systemClock.monotonicUs() < fromUs + forUs) {}
  return fromUs
}

function watched() {
  const stalls: Stall[] = []
  const close = watchStalls(systemClock, (stall) => stalls.push(stall))
  return { heardBy: (atUs: number) => heardAt(stalls, atUs), close }
}

test('a moment in which this thread was busy is heard when it is free again, any other at once', async () => {
  const { heardBy, close } = watched()
  await delay(30)
  const fromUs = keepBusy(200_000)
  const freeUs = systemClock.monotonicUs()
  const heardUs = () => heardBy(fromUs + 100_000)
  await vi.waitFor(() => expect(heardUs()).toBeGreaterThanOrEqual(freeUs))
  expect(heardUs()).toBeLessThanOrEqual(systemClock.monotonicUs())
  expect(heardBy(fromUs - 10_000_000)).toBe(fromUs - 10_000_000)
  close()
})

test('attack 268: what comes to a socket while another keeps this thread busy is stamped by the end of the stall', async () => {
  const { heardBy, close } = watched()
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const lineOf = async () => {
    const box = connect(port, '127.0.0.1')
    const [ours] = await once(server, 'connection')
    return { box, ours }
  }
  const [honest, hostile] = [await lineOf(), await lineOf()]
  await delay(30)
  const stamped = new Promise<number>((resolve) => honest.ours.once('data', () => resolve(systemClock.monotonicUs())))
  const stall = new Promise<number>((resolve) =>
    hostile.ours.once('data', () => {
      honest.box.write('root')
      resolve(keepBusy(200_000))
    }),
  )
  hostile.box.write('work')
  const stampedUs = await stamped
  const duringUs = (await stall) + 100_000
  await vi.waitFor(() => expect(stampedUs).toBeLessThanOrEqual(heardBy(duringUs)))
  for (const { box } of [honest, hostile]) box.destroy()
  server.close()
  close()
})
