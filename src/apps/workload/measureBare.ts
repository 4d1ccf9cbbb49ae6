import type { Clock } from '../../ports/clock.ts'
import type { TensorDevice } from '../../ports/tensorDevice.ts'

/** Operations per second of one square product alone, over and over, on all devices at once. */
export async function measureBare(
  devices: readonly TensorDevice[],
  size: number,
  seconds: number,
  clock: Clock,
): Promise<number> {
  const settle = () => Promise.all(devices.map((device) => device.settle()))
  const values = Float32Array.from({ length: size * size }, (_, index) => ((index * 37) % 64) / 64 - 0.5)
  const tasks = devices.map((device) => {
    const [a, b, c] = [device.allocate(size * size), device.allocate(size * size), device.allocate(size * size)]
    device.write(a, values)
    device.write(b, values)
    // Views: a device that rounds its operands does so once, and the product alone is timed.
    return { device, a, b, c, x: device.view(a, 0, a.length), y: device.view(b, 0, b.length) }
  })
  const run = async (times: number): Promise<number> => {
    const began = clock.monotonicUs()
    for (let time = 0; time < times; time++)
      for (const { device, x, y, c } of tasks) device.product({ a: x, b: y, c, m: size, n: size, k: size })
    await settle()
    return (clock.monotonicUs() - began) / 1e6
  }
  await run(1)
  const times = Math.max(1, Math.ceil((4 * seconds) / Math.max(await run(4), 1e-9)))
  const took = await run(times)
  for (const { device, a, b, c } of tasks) for (const tensor of [a, b, c]) device.free(tensor)
  return (devices.length * times * 2 * size ** 3) / Math.max(took, 1e-9)
}
