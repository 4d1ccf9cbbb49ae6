import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'

const kernels = fileURLToPath(new URL('../kernels', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'touchstone-kernels-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const checkSums = (folder: string) =>
  spawnSync(process.execPath, [join(folder, 'build.mjs'), '--sums'], { encoding: 'utf8' })

describe('the committed kernels', () => {
  // That clang makes them of these sources, byte for byte, is shown by kernels.long.test.ts.
  test('have the committed checksums, and so have the sources they were made from', () => {
    expect(checkSums(kernels)).toMatchObject({ status: 0, stdout: '' })
  })

  test.each([
    ['work/rows.c', 'sources DIFFER from those of the last build'],
    ['common/work/functions.h', 'sources DIFFER from those of the last build'],
    ['built/engine.wasm', 'engine.wasm DIFFERS from SHA256SUMS'],
  ])('a change of %s alone is found', (path, told) => {
    const folder = join(root, path.replaceAll('/', '-'))
    cpSync(kernels, folder, { recursive: true })
    appendFileSync(join(folder, path), '\n')
    expect(checkSums(folder)).toMatchObject({ status: 1, stdout: `kernels: ${told}; run npm run kernels\n` })
  })

  test('name no path of the machine that built them', () => {
    for (const name of readdirSync(join(kernels, 'built'))) {
      const text = readFileSync(join(kernels, 'built', name), 'latin1')
      expect(text.match(/\/(home|root|tmp|work|usr|build)\//), name).toBeNull()
    }
  })
})
