import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { openEmbedded } from '../../src/drivers/store/openEmbedded.ts'

const cache = fileURLToPath(new URL('../../node_modules/.cache/touchstone', import.meta.url))

/**
 * An empty store in a fresh folder. Creating one takes seconds, so it is made once by the real code and then copied. Until
 * its end the engine is compiled in one pass: a second, better one takes longer than all that a test asks of it.
 */
export async function embeddedFolder(): Promise<{ readonly folder: string; end(): void }> {
  const { version } = JSON.parse(
    readFileSync(new URL('../../node_modules/@electric-sql/pglite/package.json', import.meta.url), 'utf8'),
  ) as { version: string }
  const template = join(cache, `pglite-${version}`)
  if (!existsSync(template)) {
    mkdirSync(cache, { recursive: true })
    const made = join(mkdtempSync(join(cache, 'making-')), 'data')
    await (await openEmbedded({ folder: made })).close()
    try {
      renameSync(made, template)
    } catch {
      // Another test file was faster.
    }
    rmSync(join(made, '..'), { recursive: true, force: true })
  }
  setFlagsFromString('--liftoff-only')
  const parent = mkdtempSync(join(tmpdir(), 'touchstone-store-'))
  const folder = join(parent, 'data')
  cpSync(template, folder, { recursive: true })
  const end = (): void => {
    setFlagsFromString('--no-liftoff-only')
    rmSync(parent, { recursive: true, force: true })
  }
  return { folder, end }
}
