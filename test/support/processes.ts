import { readFileSync } from 'node:fs'
import type { ProverProcess } from '../../src/ports/remoteBox.ts'

export async function firstLine(prover: ProverProcess): Promise<string> {
  let text = ''
  for await (const chunk of prover.output) {
    text += Buffer.from(chunk).toString('utf8')
    if (text.includes('\n')) break
  }
  return text.slice(0, text.indexOf('\n'))
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie nobody has waited for is dead enough.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
