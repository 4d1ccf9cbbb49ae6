/** The text of a file that comes in pieces. */
export async function textOf(file: AsyncIterable<Uint8Array> | null): Promise<string | null> {
  if (file === null) return null
  const pieces: Uint8Array[] = []
  for await (const piece of file) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}
