import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CpuEvidence } from '../../core/attest/bundle.ts'
import { snpCertificates } from '../../core/attest/snpCertificates.ts'

/** Where Linux (6.7 and later) lets a confidential machine ask its processor: a folder made here is a request. */
const REQUESTS = '/sys/kernel/config/tsm/report'

/** The calls that are made on the request; a test plays the kernel. */
export interface RequestFiles {
  mkdir(path: string): Promise<unknown>
  writeFile(path: string, bytes: Uint8Array): Promise<void>
  readFile(path: string): Promise<Uint8Array>
  rmdir(path: string): Promise<void>
}

/**
 * Has AMD's processor sign 64 bytes for the machine that runs this; null where it cannot, may not, or its host does not
 * hand out the certificates. Not tried on a machine that can. Intel's quotes are not collected: nobody on the box has the
 * collateral that they are judged with.
 */
export async function askProcessor(
  data: Uint8Array,
  files: RequestFiles = { mkdir, writeFile, readFile, rmdir },
): Promise<CpuEvidence | null> {
  const request = join(REQUESTS, `touchstone-${randomBytes(8).toString('hex')}`)
  const read = async (name: string) => new Uint8Array(await files.readFile(join(request, name)))
  const wordOf = async (name: string) => new TextDecoder().decode(await read(name)).trim()
  try {
    await files.mkdir(request)
  } catch {
    return null
  }
  try {
    await files.writeFile(join(request, 'inblob'), data)
    if ((await wordOf('provider')) !== 'sev_guest') return null
    const report = await read('outblob')
    const certificates = snpCertificates(await read('auxblob'))
    // Somebody else wrote into this very request: what was signed is not known to be ours.
    const alone = (await wordOf('generation')) === '1'
    return certificates && alone ? { kind: 'sev-snp', report, certificates } : null
  } catch {
    return null
  } finally {
    await files.rmdir(request).catch(() => {})
  }
}
