import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { parseCatalogue } from '../../core/identify/parseCatalogue.ts'
import { fault } from './faults.ts'
import { readRegularFile } from './readRegularFile.ts'

/** Far above any honest catalogue, and small enough to parse at once. */
const MOST_BYTES = 4 * 1024 * 1024

/** The shipped catalogue as the build parsed it; it lies in dist/ alone, so that sources never meet a stale one. */
const PARSED = new URL('../../catalogue.json', import.meta.url)

/** A parsed catalogue, and the hash of the file that it was parsed from. */
export interface ParsedCatalogue {
  readonly sha256: string
  readonly catalogue: Catalogue
}

/** Reads and checks the catalogue of cards; a broken file is the user's fault and says where it is broken. */
export async function loadCatalogue(path: string, parsed: URL | string = PARSED): Promise<Catalogue> {
  try {
    const read = readRegularFile(path, MOST_BYTES)
    if (typeof read === 'number') throw new Error(`the file has ${read} bytes; at most ${MOST_BYTES} are read`)
    return parsedBefore(read, parsed) ?? parseCatalogue(await parseYaml(Buffer.from(read).toString('utf8')))
  } catch (cause) {
    throw fault('CATALOGUE_UNREADABLE', { why: cause instanceof Error ? cause.message : 'unreadable' }, cause)
  }
}

/** YAML takes longer to parse than a certificate to read: of a file that is still as it was built, that is done already. */
function parsedBefore(file: Uint8Array, parsed: URL | string): Catalogue | null {
  try {
    const { sha256, catalogue }: ParsedCatalogue = JSON.parse(readFileSync(parsed, 'utf8'))
    return sha256 === createHash('sha256').update(file).digest('hex') ? catalogue : null
  } catch {
    return null
  }
}

/** No aliases and no merge keys: a small file must not unfold into a large one. */
async function parseYaml(text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true })
  const [error] = document.errors
  if (error !== undefined) throw error
  return document.toJS({ maxAliasCount: 0 })
}
