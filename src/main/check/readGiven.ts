import type { GivenFile } from '../../apps/check/checkEvidence.ts'
import { MAX_CERTIFICATE_BYTES, tooLarge } from '../../core/certificate/envelope.ts'
import { fetchFile } from '../../drivers/system/fetchFile.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { fault } from '../faults.ts'

/** A file, `-` for standard input, or a URL. What is larger than any certificate is not read to its end. */
export async function readGiven(name: string, signal: AbortSignal): Promise<GivenFile> {
  const read = await readFrom(name, signal)
  return typeof read === 'number' ? tooLarge(read) : read
}

async function readFrom(name: string, signal: AbortSignal): Promise<Uint8Array | number> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(name)) return await fetchFile(name, MAX_CERTIFICATE_BYTES, signal)
  try {
    return name === '-' ? await readStandardInput(signal) : readRegularFile(name, MAX_CERTIFICATE_BYTES)
  } catch (cause) {
    if (signal.aborted) throw cause
    throw fault('NOT_READABLE', { file: name }, cause)
  }
}

async function readStandardInput(signal: AbortSignal): Promise<Uint8Array | number> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const stop = () => process.stdin.destroy(new Error('interrupted'))
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const chunk of process.stdin) {
      bytes += chunk.length
      if (bytes > MAX_CERTIFICATE_BYTES) return bytes
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
