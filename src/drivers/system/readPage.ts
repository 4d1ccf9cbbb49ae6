import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/** src/ and dist/ lie at the same depth, and the build writes the page to dist/. */
const FOLDER = fileURLToPath(new URL('../../../dist/web/check/', import.meta.url))

/** The built files of the page that checks, by name; none where nothing was built. */
export const readPage = (): ReadonlyMap<string, { readonly type: string; readonly body: Uint8Array<ArrayBuffer> }> =>
  new Map(
    (existsSync(FOLDER) ? readdirSync(FOLDER) : []).map((name) => [
      name,
      {
        type: TYPES[extname(name)] ?? 'application/octet-stream',
        body: new Uint8Array(readFileSync(join(FOLDER, name))),
      },
    ]),
  )
