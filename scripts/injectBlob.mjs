// Puts the blob of Node's single-executable support into a copy of Node for Linux on x86-64, so that the Node inside can be
// taken out again bit for bit (src/drivers/remote/bareNode.ts): boxes without Node get that one.
// The copy stays where it is in the file; behind it come a longer table of segments, the blob as an ELF note, and a trailer.

const PAGE = 4096
const [LOAD, NOTE, TABLE] = [1, 4, 6]
const READ = 4
const ENTRY = 56
const NAME = 'NODE_SEA_BLOB'
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:0'
const MAGIC = 'touchstone/node\n'

/** Node as an executable that runs `blob`, made with `node --experimental-sea-config`. */
export function injectBlob(node, blob) {
  const fuse = node.indexOf(FUSE) + FUSE.length - 1
  if (node.subarray(0, 5).toString('hex') !== '7f454c4602' || node.readUInt16LE(18) !== 62)
    throw new Error('this Node is no program for Linux on x86-64')
  if (fuse < FUSE.length || node.indexOf(FUSE, fuse) >= 0) throw new Error('this Node carries a program already')
  const segments = segmentsOf(node)
  const loaded = segments.filter(({ type }) => type === LOAD)
  // Address less offset is the same for the new segment as for the first: older kernels reckon the table's place by it.
  const base = loaded[0].address - loaded[0].offset
  const start = pages(Math.max(node.length, ...loaded.map(({ address, memory }) => address + memory - base)))
  const note = noteOf(blob)
  const tableBytes = ENTRY * (segments.length + 2)
  const noteAt = start + pages(tableBytes)
  const added = [
    segment({ type: LOAD, offset: start, address: base + start, bytes: noteAt - start + note.length, align: PAGE }),
    segment({ type: NOTE, offset: noteAt, address: base + noteAt, bytes: note.length, align: 4 }),
  ]
  const table = segments.map(({ type, raw }) =>
    type === TABLE ? segment({ type, offset: start, address: base + start, bytes: tableBytes, align: 8 }) : raw,
  )
  const head = Buffer.from(node.subarray(0, 64))
  const made = Buffer.alloc(noteAt + note.length)
  node.copy(made)
  made.writeBigUInt64LE(BigInt(start), 32)
  made.writeUInt16LE(segments.length + 2, 56)
  made.write('1', fuse)
  Buffer.concat([...table, ...added]).copy(made, start)
  note.copy(made, noteAt)
  return Buffer.concat([made, head, numbers(node.length, fuse), Buffer.from(MAGIC)])
}

function segmentsOf(program) {
  const [table, count] = [Number(program.readBigUInt64LE(32)), program.readUInt16LE(56)]
  return Array.from({ length: count }, (_, i) => {
    const raw = program.subarray(table + i * ENTRY, table + (i + 1) * ENTRY)
    const number = (offset) => Number(raw.readBigUInt64LE(offset))
    return { type: raw.readUInt32LE(0), offset: number(8), address: number(16), memory: number(40), raw }
  })
}

function segment({ type, offset, address, bytes, align }) {
  const kind = Buffer.alloc(8)
  kind.writeUInt32LE(type)
  kind.writeUInt32LE(READ, 4)
  return Buffer.concat([kind, numbers(offset, address, address, bytes, bytes, align)])
}

function noteOf(blob) {
  const head = Buffer.alloc(12)
  head.writeUInt32LE(NAME.length + 1, 0)
  head.writeUInt32LE(blob.length, 4)
  return Buffer.concat([
    head,
    Buffer.from(NAME.padEnd(fours(NAME.length + 1), '\0')),
    blob,
    Buffer.alloc(fours(blob.length) - blob.length),
  ])
}

function numbers(...values) {
  const bytes = Buffer.alloc(8 * values.length)
  values.forEach((value, i) => void bytes.writeBigUInt64LE(BigInt(value), 8 * i))
  return bytes
}

const fours = (length) => Math.ceil(length / 4) * 4
const pages = (length) => Math.ceil(length / PAGE) * PAGE
