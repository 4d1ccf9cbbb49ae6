// Bundles what runs in a browser: dist/browser is the library, dist/web/check the page, dist/web/touchstone-check.html the same
// page as one file that opens from a disk. Reads dist/, so compile first.
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** What the bundles carry: the verifier's kernels and the catalogue of cards. */
export async function carried(root) {
  const { loadCatalogue } = await import(join(root, 'dist/drivers/system/loadCatalogue.js'))
  const kernel = (name) => JSON.stringify(readFileSync(join(root, 'kernels/built', name)).toString('base64'))
  return {
    TOUCHSTONE_ENGINE: kernel('engine.wasm'),
    TOUCHSTONE_RELAXED_ENGINE: kernel('engine-relaxed.wasm'),
    TOUCHSTONE_CATALOGUE: JSON.stringify(await loadCatalogue(join(root, 'catalogue/gpus.yaml'))),
  }
}

/** Nobody asks a page or a check for the JSON schema of anything: a tenth of zod stays at home. */
export const withoutJsonSchema = {
  name: 'withoutJsonSchema',
  setup({ onLoad }) {
    const nothing = (names) => names.map((name) => `export const ${name} = () => {}`).join('\n')
    const left = {
      'json-schema-processors': ['allProcessors', 'toJSONSchema'],
      'to-json-schema': ['createStandardJSONSchemaMethod', 'createToJSONSchemaMethod'],
      'json-schema-generator': ['JSONSchemaGenerator'],
    }
    for (const [name, names] of Object.entries(left))
      onLoad({ filter: new RegExp(`zod[\\\\/]v4[\\\\/]core[\\\\/]${name}\\.js$`) }, () => ({
        contents: nothing(names),
      }))
  },
}

/** What is malformed is told by its code and its place: zod's own sentences are read by nobody. What was JSON has no cycles. */
const withoutSentences = {
  name: 'withoutSentences',
  setup({ onLoad }) {
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]en\.js$/ }, () => ({
      contents: "export default () => ({ localeError: () => 'malformed' })",
    }))
    onLoad({ filter: /zod[\\/]v4[\\/]core[\\/]memoizer\.js$/ }, () => ({
      contents: 'export const memoizer = () => {}, isBackEdge = () => false, isRecursiveSchema = () => false',
    }))
  },
}

/** For a browser an import of a Node module does not resolve, and the build fails. */
export const bundling = (root, define) => ({
  absWorkingDir: root,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  legalComments: 'none',
  define,
  plugins: [withoutJsonSchema, withoutSentences],
  logLevel: 'error',
})

export async function bundleWeb(root) {
  const common = bundling(root, await carried(root))
  const worker = join(root, 'dist/drivers/verifier/tabWorker.js')
  const bundle = (from, to) => build({ ...common, entryPoints: [from], outfile: join(root, 'dist', to) })
  await bundle(join(root, 'dist/exports/browser.js'), 'browser/touchstone.js')
  await bundle(worker, 'browser/worker.js')
  if (!existsSync(join(root, 'web/check'))) return
  mkdirSync(join(root, 'dist/web/check'), { recursive: true })
  for (const name of ['index.html', 'style.css'])
    copyFileSync(join(root, 'web/check', name), join(root, 'dist/web/check', name))
  copyFileSync(join(root, 'web/home.html'), join(root, 'dist/web/check/home.html'))
  await bundle(join(root, 'web/check/page.ts'), 'web/check/page.js')
  await bundle(worker, 'web/check/worker.js')
  writeFileSync(join(root, 'dist/web/touchstone-check.html'), oneFile(join(root, 'dist/web/check')))
}

/**
 * The page with style and script in it: a browser loads no second file from a disk, and starts no worker there, so it checks in
 * its own thread. The policy names both by their hashes.
 */
function oneFile(folder) {
  const read = (name) => readFileSync(join(folder, name), 'utf8')
  const [style, script] = [read('style.css'), read('page.js')]
  const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const policy = `default-src 'none'; script-src ${hashOf(script)} 'wasm-unsafe-eval'; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`
  const parts = [
    [/content="default-src[^"]*"/, `content="${policy}"`],
    ['<link rel="stylesheet" href="./style.css">\n<script type="module" src="./page.js"></script>\n', ''],
    ['</head>', `<style>${style}</style>\n</head>`],
    ['</body>', `<script type="module">${script}</script>\n</body>`],
  ]
  return parts.reduce((page, [from, to]) => {
    const filled = page.replace(from, () => to)
    if (filled === page) throw new Error(`the page has no ${from}`)
    return filled
  }, read('index.html'))
}
