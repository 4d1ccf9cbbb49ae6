import { parseDocument } from 'yaml'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { parseCatalogue } from '../../core/identify/parseCatalogue.ts'
import { fault } from './faults.ts'
import { readRegularFile } from './readRegularFile.ts'

/** Far above any honest catalogue, and small enough to parse at once. */
const MOST_BYTES = 4 * 1024 * 1024

/** Reads and checks the catalogue of cards; a broken file is the user's fault and says where it is broken. */
export async function loadCatalogue(path: string): Promise<Catalogue> {
  try {
    const read = readRegularFile(path, MOST_BYTES)
    if (typeof read === 'number') throw new Error(`the file has ${read} bytes; at most ${MOST_BYTES} are read`)
    return parseCatalogue(parseYaml(Buffer.from(read).toString('utf8')))
  } catch (cause) {
    throw fault('CATALOGUE_UNREADABLE', { why: cause instanceof Error ? cause.message : 'unreadable' }, cause)
  }
}

/** No aliases and no merge keys: a small file must not unfold into a large one. */
function parseYaml(text: string): unknown {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true })
  const [error] = document.errors
  if (error !== undefined) throw error
  return document.toJS({ maxAliasCount: 0 })
}
