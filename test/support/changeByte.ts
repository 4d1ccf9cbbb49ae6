import { readFileSync, writeFileSync } from 'node:fs'

/** One bit of a byte of a file, counted from its end. */
export function changeByte(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[bytes.length + at]! ^= 1
  writeFileSync(file, bytes)
}
