import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { partOf, type SharedPart, sharePart } from './sharedPart.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const device = fc.record({
  device: fc.nat(31),
  roots: fc.array(bytes(32), { maxLength: 9 }),
  openings: fc.uint8Array({ maxLength: 300 }),
})
const part = fc.record({
  s: bytes(32),
  z: fc.option(bytes(32)),
  zSentUs: fc.option(fc.nat()),
  nonce: bytes(32),
  devices: fc.array(device, { minLength: 1, maxLength: 4 }),
})

/** As another thread gets it. */
function posted(shared: SharedPart): SharedPart {
  const { port1, port2 } = new MessageChannel()
  port1.postMessage(shared)
  const { message } = receiveMessageOnPort(port2)!
  port1.close()
  return message
}

test('attack 167: a thread is told of a part without a copy of its roots and openings, and reads what was sent', () => {
  fc.assert(
    fc.property(part, (given) => {
      const evidence = {
        ...given,
        devices: given.devices.map((one) => ({ ...one, arrivalsUs: one.roots.map(() => 1) })),
      }
      const shared = sharePart(evidence)
      const told = posted(shared)
      const read = partOf(told)
      const plain = read.devices.map(({ roots, openings, ...rest }) => ({
        ...rest,
        roots: roots.map((root) => Uint8Array.from(root)),
        openings: Uint8Array.from(openings),
      }))
      expect({ ...read, devices: plain }).toEqual({
        ...given,
        devices: given.devices.map((one) => ({ ...one, arrivalsUs: [] })),
      })
      for (const [i, { roots, openings }] of shared.devices.entries()) {
        roots.fill(0xaa)
        openings.fill(0xbb)
        expect(told.devices[i]!.roots.every((byte) => byte === 0xaa)).toBe(true)
        expect(told.devices[i]!.openings.every((byte) => byte === 0xbb)).toBe(true)
      }
    }),
  )
})
