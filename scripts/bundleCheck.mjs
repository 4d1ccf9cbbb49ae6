// Bundles `touchstone check`, which is run more often than all else: Node spends longer on finding and reading three hundred
// small files than the command does on reading a certificate. Reads dist/, so compile first; the bundle takes the place of
// dist/main/check/checkCommand.js.
import { readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { build } from 'esbuild'
import { withoutJsonSchema } from './bundleWeb.mjs'

const common = (root) => ({
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  logLevel: 'error',
})

export async function bundleCheck(root) {
  const command = join(root, 'dist/main/check/checkCommand.js')
  const kept = await loadedBefore(root)
  await build({
    ...common(root),
    entryPoints: [command],
    outfile: command,
    allowOverwrite: true,
    // Native, not always needed, or CommonJS.
    external: ['koffi', 'yaml', 'commander', 'picocolors'],
    plugins: [keptApart(kept, dirname(command)), withoutJsonSchema, ownPlaces(root, dirname(command))],
    minifySyntax: true,
    minifyWhitespace: true,
  })
}

/** What the program has loaded before it knows its command: a second copy of a class would not be the same class. */
async function loadedBefore(root) {
  const entry = join(root, 'dist/main/touchstone.js')
  const notYet = {
    name: 'notYet',
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ kind, path }) =>
        kind === 'dynamic-import' ? { path, external: true } : undefined,
      )
    },
  }
  const { metafile } = await build({
    ...common(root),
    entryPoints: [entry],
    packages: 'external',
    plugins: [notYet],
    metafile: true,
    write: false,
  })
  return new Set(Object.keys(metafile.inputs).map((input) => join(root, input)))
}

const pathFrom = (folder, file) => `./${relative(folder, file).replaceAll(sep, '/')}`

const keptApart = (kept, folder) => ({
  name: 'keptApart',
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ resolveDir, path }) => {
      const file = join(resolveDir, path)
      return kept.has(file) ? { path: pathFrom(folder, file), external: true } : undefined
    })
  },
})

/** A module that asks where it lies means its own place in dist/, where its threads and files are, not the bundle's. */
const ownPlaces = (root, folder) => ({
  name: 'ownPlaces',
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      if (!path.startsWith(join(root, 'dist') + sep)) return
      const place = `new URL(${JSON.stringify(pathFrom(folder, path))}, import.meta.url).href`
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', place) }
    })
  },
})
