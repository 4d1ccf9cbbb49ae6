/** What `scripts/injectBlob.mjs` leaves at the end: the first 64 bytes of Node, its length, where its fuse is, and this. */
const MAGIC = 'touchstone/node\n'
const HEAD = 64
const TRAILER = HEAD + 16 + MAGIC.length

/** The Node inside our single executable, bit for bit as it went in; any other program as it is. */
export function bareNode(program: Buffer): Buffer {
  const trailer = program.subarray(-TRAILER)
  if (trailer.length < TRAILER || trailer.toString('latin1', HEAD + 16) !== MAGIC) return program
  const [length, fuse] = [Number(trailer.readBigUInt64LE(HEAD)), Number(trailer.readBigUInt64LE(HEAD + 8))]
  if (length > program.length || fuse >= length) return program
  const node = Buffer.from(program.subarray(0, length))
  trailer.copy(node, 0, 0, HEAD)
  node.write('0', fuse)
  return node
}
