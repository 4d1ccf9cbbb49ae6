// Bundles what is started most often: Node spends longer on finding and reading three hundred small files than
// `touchstone check` does on reading a certificate, or the prover on a small part. Reads dist/, so compile first.
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

const small = { minifySyntax: true, minifyWhitespace: true }

/** Commands that are started most often. */
const COMMANDS = ['check', 'provider', 'rent', 'report', 'validator', 'verify', 'work']

/** Each bundle takes the place of its command in dist/main; what they share lies beside them. */
export async function bundleCommands(root) {
  const main = join(root, 'dist/main')
  const shared = join(main, 'shared')
  const kept = await loadedBefore(root)
  await build({
    ...common(root),
    entryPoints: COMMANDS.map((name) => join(main, name, `${name}Command.js`)),
    outdir: main,
    outbase: main,
    splitting: true,
    chunkNames: 'shared/[name]-[hash]',
    allowOverwrite: true,
    // From the folder of what they share a path leads where it does from the folder of a command.
    plugins: [keptApart(kept, shared), packagesApart, ownPlaces(root, shared)],
    ...small,
  })
}

/** Others are native, CommonJS, or not always needed. */
const packagesApart = {
  name: 'packagesApart',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || /^(zod|@noble|@?hono|@asteasolutions)\b/.test(path)
        ? undefined
        : { path, external: true },
    )
  },
}

/** The threads that a check starts, one for each core; the bundle takes the place of its script. */
export async function bundleVerifier(root) {
  const script = join(root, 'dist/drivers/verifier/verifierWorker.js')
  await build({
    ...common(root),
    entryPoints: [script],
    outfile: script,
    allowOverwrite: true,
    external: ['koffi'],
    plugins: [ownPlaces(root, dirname(script))],
    ...small,
  })
}

/** dist/bundled/prover.js, for this machine; other boxes get a release of scripts/packProver.mjs. */
export async function bundleProver(root) {
  const folder = join(root, 'dist/bundled')
  await build({
    ...common(root),
    entryPoints: [join(root, 'dist/main/prover.js')],
    outdir: folder,
    external: ['koffi'],
    plugins: [withoutJsonSchema, ownPlaces(root, folder)],
    ...small,
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
