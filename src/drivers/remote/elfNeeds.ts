/** A program for Linux on x86-64, as far as its headers tell. */
const MAGIC = '7f454c4602'
const X86_64 = 62
const SECTION_DYNAMIC = 6
const NEEDED = 1n

/** The libraries that a program asks for by name; null where it is no ELF program for x86-64. Runs nothing of it. */
export function elfNeeds(program: Buffer): readonly string[] | null {
  if (program.subarray(0, 5).toString('hex') !== MAGIC || program.readUInt16LE(18) !== X86_64) return null
  try {
    const [table, size, count] = [at(program, 40), program.readUInt16LE(58), program.readUInt16LE(60)]
    const sections = Array.from({ length: count }, (_, i) => sectionAt(program, table + i * size))
    const dynamic = sections.find(({ type }) => type === SECTION_DYNAMIC)
    const names = dynamic && sections[dynamic.link]
    if (!dynamic || !names) return []
    const entries = Array.from({ length: Math.floor(dynamic.size / 16) }, (_, i) => dynamic.offset + 16 * i)
    return entries
      .filter((entry) => program.readBigInt64LE(entry) === NEEDED)
      .map((entry) => textAt(program, names.offset + at(program, entry + 8)))
  } catch {
    // A header that points outside the file.
    return null
  }
}

const at = (program: Buffer, offset: number): number => Number(program.readBigUInt64LE(offset))

const sectionAt = (program: Buffer, offset: number) => ({
  type: program.readUInt32LE(offset + 4),
  offset: at(program, offset + 24),
  size: at(program, offset + 32),
  link: program.readUInt32LE(offset + 40),
})

function textAt(program: Buffer, offset: number): string {
  return program.toString('latin1', offset, program.indexOf(0, offset))
}
