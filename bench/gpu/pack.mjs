#!/usr/bin/env node
// Packs scripts with koffi and the kernels into a folder that runs with a bare Node: node bench/gpu/pack.mjs FOLDER SCRIPT…
// `vitest` becomes a small runner, so that the port suites run where nothing can be installed.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const [folder, ...scripts] = process.argv.slice(2)
const workers = ['src/drivers/gpu/cuda/cardWorker.ts', 'src/drivers/gpu/cpu/cpuWorker.ts', 'bench/gpu/tileWorker.ts']
rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
rmSync(join(folder, 'kernels'), { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const entry of [...scripts, ...workers.map((worker) => join(root, worker))]) {
  await build({
    entryPoints: [entry],
    outfile: join(folder, `${basename(entry, '.ts')}.js`),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['koffi'],
    // A package in CommonJS asks for Node's modules with require.
    banner: {
      js: "import { createRequire as packRequire } from 'node:module'\nconst require = packRequire(import.meta.url)",
    },
    alias: { vitest: join(root, 'bench/gpu/smallTestRunner.ts') },
    logLevel: 'error',
  })
}
const parts = [
  'koffi/index.js',
  'koffi/package.json',
  'koffi/indirect.js',
  'koffi/src',
  'koffi/lib',
  '@koromix/koffi-linux-x64',
]
for (const part of parts)
  cpSync(join(root, 'node_modules', part), join(folder, 'node_modules', part), { recursive: true })
cpSync(join(root, 'kernels/built'), join(folder, 'kernels/built'), { recursive: true })
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
