import { mix32 } from '../proof/mix32.ts'

/** The windows of a text in an order of the epoch's own, each once. `windows` is below 2^32. */
export function epochOrder(windows: number, epoch: number, seed: number): Uint32Array {
  const order = Uint32Array.from({ length: windows }, (_, index) => index)
  const key = mix32((seed ^ mix32(epoch + 1)) >>> 0)
  for (let i = windows - 1; i > 0; i--) {
    const j = Math.floor((mix32((i ^ key) >>> 0) / 2 ** 32) * (i + 1))
    const held = order[i]!
    order[i] = order[j]!
    order[j] = held
  }
  return order
}
