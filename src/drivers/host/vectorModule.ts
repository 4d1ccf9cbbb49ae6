/**
 * A WebAssembly module made here, byte by byte: `run(n) -> f32` does n times eight independent vector chains
 * a = a * c + d (a product, then a sum) on four 32-bit floats. Eight chains hide the latency of one.
 */
const CHAINS = 8
const LANES = 4
export const FLOP_PER_ROUND = CHAINS * LANES * 2

const [I32, F32, V128] = [0x7f, 0x7d, 0x7b]
const SIMD = 0xfd

/** Numbers in LEB128, as all counts and opcodes of the format are. */
function leb(value: number): number[] {
  const out: number[] = []
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return [...out, left]
    out.push((left & 0x7f) | 0x80)
  }
}
const section = (id: number, body: readonly number[]): number[] => [id, ...leb(body.length), ...body]
const f32 = (value: number): number[] => [...new Uint8Array(Float32Array.of(value).buffer)]
const local = { get: 0x20, set: 0x21, tee: 0x22 }
const splat = (value: number): number[] => [0x43, ...f32(value), SIMD, ...leb(0x13)]
const mul = [SIMD, ...leb(0xe6)]
const add = [SIMD, ...leb(0xe4)]

function body(): number[] {
  // Local 0 counts down; then come the chains, then factor and summand.
  const [factor, summand] = [1 + CHAINS, 2 + CHAINS]
  const chains = Array.from({ length: CHAINS }, (_, i) => 1 + i)
  const start = chains.flatMap((at) => [...splat(at), local.set, at])
  const step = chains.flatMap((at) => [
    local.get,
    at,
    local.get,
    factor,
    ...mul,
    local.get,
    summand,
    ...add,
    local.set,
    at,
  ])
  // i32.const 1, i32.sub, local.tee 0, br_if 0 around it: once more while the count is not zero.
  const loop = [0x03, 0x40, ...step, local.get, 0, 0x41, 1, 0x6b, local.tee, 0, 0x0d, 0, 0x0b]
  const sum = chains.slice(1).flatMap((at) => [local.get, at, ...add])
  const end = [local.get, 1, ...sum, SIMD, ...leb(0x1f), 0, 0x0b]
  const locals = [1, CHAINS + 2, V128]
  const code = [...splat(0.999), local.set, factor, ...splat(0.001), local.set, summand, ...start, ...loop, ...end]
  return [...locals, ...code]
}

export interface VectorExports {
  run(rounds: number): number
}

export function vectorModule(): Uint8Array<ArrayBuffer> {
  const code = body()
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, I32, 1, F32]),
    ...section(3, [1, 0]),
    ...section(7, [1, 3, ...[0x72, 0x75, 0x6e], 0, 0]),
    ...section(10, [1, ...leb(code.length), ...code]),
  ])
}
