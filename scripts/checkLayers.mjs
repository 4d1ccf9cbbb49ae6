#!/usr/bin/env node
// Fails on an import against the direction core -> ports -> {drivers, apps} -> main. See docs/architecture.md.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Which core folders each core folder imports, besides itself. A new arrow is a decision: add it here, and no circle. */
export const CORE_IMPORTS = {
  units: [],
  bytes: [],
  params: [],
  proof: ['bytes', 'params'],
  engine: ['params', 'proof'],
  wire: ['bytes', 'params'],
  lease: ['bytes'],
  inventory: ['bytes', 'params'],
  attest: ['units', 'bytes'],
  identify: ['bytes', 'params', 'proof'],
  score: ['units', 'params', 'inventory', 'identify'],
  certificate: ['units', 'bytes', 'params', 'proof', 'inventory', 'attest', 'identify', 'work'],
  bench: ['units', 'bytes', 'params', 'inventory', 'identify'],
  schedule: ['bytes', 'proof', 'inventory', 'attest', 'identify', 'score', 'certificate'],
  work: ['bytes', 'params', 'proof', 'engine'],
  chain: ['bytes', 'params', 'proof'],
  ledger: ['bytes', 'proof', 'chain'],
}

/** npm packages a folder may name; drivers name their own library, core only pure ones. */
const PACKAGES = {
  core: [/^@noble\/(hashes|curves)\//, /^zod$/],
  'core/chain': [/^@chainsafe\/(ssz|persistent-merkle-tree(\/hasher\/as-sha256)?|as-sha256)$/],
  ports: [],
  apps: [/^node:events$/],
  'apps/api': [/^hono/, /^@hono\//, /^zod$/],
  drivers: [/.*/],
  main: [/.*/],
  exports: [/^node:url$/, /^zod$/],
}

export function layerOf(path) {
  const [first, second] = path.split('/')
  if (first === 'core' || first === 'drivers' || first === 'apps') return `${first}/${second}`
  return first
}

export function mayImport(from, to) {
  if (from === to) return true
  const [tier] = from.split('/')
  if (tier === 'core') return (CORE_IMPORTS[from.slice('core/'.length)] ?? []).some((name) => to === `core/${name}`)
  if (tier === 'ports') return to.startsWith('core/')
  if (tier === 'drivers') return to.startsWith('core/') || to === 'ports' || to === 'drivers/system'
  if (tier === 'apps') return to.startsWith('core/') || to === 'ports' || to === 'apps/shared'
  if (tier === 'main') return true
  // Like main, it picks drivers: what it exports works as it is.
  if (tier === 'exports') return to !== 'main'
  return false
}

export function mayUsePackage(from, name) {
  const [tier] = from.split('/')
  return [...(PACKAGES[tier] ?? []), ...(PACKAGES[from] ?? [])].some((pattern) => pattern.test(name))
}

export function importsOf(source) {
  const found = []
  for (const match of source.matchAll(/(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/g))
    found.push(match[1])
  for (const match of source.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)) found.push(match[1])
  for (const match of source.matchAll(/(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g)) found.push(match[1])
  return found
}

export function violationsOf(path, source) {
  const from = layerOf(path)
  return importsOf(source).flatMap((name) => {
    if (!name.startsWith('.'))
      return mayUsePackage(from, name) ? [] : [`${path}: ${from} may not import the package ${name}`]
    const target = join(dirname(path), name).split(sep).join('/')
    if (target.startsWith('..')) return [`${path}: imports ${name}, outside src/`]
    return mayImport(from, layerOf(target)) ? [] : [`${path}: ${from} may not import ${layerOf(target)} (${name})`]
  })
}

function* sources(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* sources(path)
    else if (entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts')) yield path
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../src', import.meta.url))
  const files = [...sources(root)]
  const violations = files.flatMap((file) =>
    violationsOf(relative(root, file).split(sep).join('/'), readFileSync(file, 'utf8')),
  )
  for (const violation of violations) console.error(violation)
  if (files.length === 0) throw new Error('checkLayers read no file: the check itself is broken')
  console.log(`layers: ${files.length} files, ${violations.length} violations`)
  process.exit(violations.length === 0 ? 0 : 1)
}
