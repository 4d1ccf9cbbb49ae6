import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

test('the whole check of a certificate is small enough for a page, and needs nothing of Node', async () => {
  const contents = "export * from './src/exports/certificate.ts'\nexport * from './src/exports/engine.ts'\n"
  const resolveDir = fileURLToPath(new URL('..', import.meta.url))
  // For a browser an import of a Node module does not resolve, and the build fails.
  const options = { bundle: true, minify: true, format: 'esm', platform: 'browser', write: false } as const
  const { outputFiles } = await build({ ...options, stdin: { contents, resolveDir, loader: 'ts' } })
  const [page] = outputFiles
  const sizes = { bytes: page!.contents.length, zipped: gzipSync(page!.contents, { level: 9 }).length }
  console.info(`check of a certificate for a page: ${sizes.bytes} bytes, ${sizes.zipped} with gzip`)
  expect(sizes.bytes).toBeLessThan(240_000)
  expect(sizes.zipped).toBeLessThan(80_000)
})
