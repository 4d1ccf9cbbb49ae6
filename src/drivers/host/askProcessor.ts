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
 * Has AMD's or Intel's processor sign 64 bytes for the machine that runs this; null where it cannot, may not, or AMD's host
 * does not hand out the certificates. Not tried on a machine that can. What Intel's quotes are judged with is not on the box:
 * whoever judges brings it along.
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
    const provider = await wordOf('provider')
    const evidence =
      provider === 'sev_guest' ? await ofAmd(read) : provider === 'tdx_guest' ? await ofIntel(read) : null
    // Somebody else wrote into this very request: what was signed is not known to be ours.
    const alone = (await wordOf('generation')) === '1'
    return alone ? evidence : null
  } catch {
    return null
  } finally {
    await files.rmdir(request).catch(() => {})
  }
}

type Read = (name: string) => Promise<Uint8Array>

async function ofAmd(read: Read): Promise<CpuEvidence | null> {
  const report = await read('outblob')
  const certificates = snpCertificates(await read('auxblob'))
  return certificates && { kind: 'sev-snp', report, certificates }
}

async function ofIntel(read: Read): Promise<CpuEvidence> {
  return { kind: 'tdx', quote: await read('outblob'), collateral: {} }
}
