/** Numbers of the chain's hashes and lotteries are big-endian; its SSZ objects are not read here. */
export function u32be(value: number): Uint8Array {
  const out = new Uint8Array(4)
  new DataView(out.buffer).setUint32(0, value)
  return out
}

export function u64be(value: bigint): Uint8Array {
  const out = new Uint8Array(8)
  new DataView(out.buffer).setBigUint64(0, value)
  return out
}

/** The whole number that 32 bytes spell, most significant first. */
export function be256(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 32)
  let number = 0n
  for (let at = 0; at < 32; at += 8) number = (number << 64n) | view.getBigUint64(at)
  return number
}
