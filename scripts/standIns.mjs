// Node looks for a package that is missing in every folder above the program, where somebody else may have put one (attack
// 316). A stand-in ends the search inside the program: whoever asks for it hears that there is none.
import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path'

const ASKED =
  /\b(?:require|import)\s*(?:\.resolve\s*)?\(\s*(['"`])([^'"`$\s]+)\1|\b(?:from|import)\s*(['"])([^'"\s]+)\3/g
const NAME = /^(?:@[\w.~-]+\/)?\w[\w.~-]*(?![\w.~:-])/
const NOBODY = JSON.stringify({ exports: { '.': './missing.cjs', './*': './missing.cjs' } })

/** A file for each package that one of these files asks for, or may ask for after the lockfile, and that is not among them. */
export const standInsFor = (files, lock) =>
  lackedBy(files, lock).map((name) => ({ path: `node_modules/${name}/package.json`, content: Buffer.from(NOBODY) }))

/** The names of packages that would be looked for outside. */
export function lackedBy(files, lock = {}) {
  const there = new Set(files.flatMap(({ path }) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []))
  const isThere = (folder, name) =>
    there.has(join(folder, 'node_modules', name)) || (folder !== '.' && isThere(dirname(folder), name))
  const scripts = files.filter(({ path }) => /\.[cm]?js$/.test(path))
  const asked = scripts.flatMap(({ path, content }) =>
    namesIn(content.toString()).filter((name) => !isThere(dirname(path), name)),
  )
  const optional = Object.keys(lock)
    .flatMap((path) => (there.has(path) ? optionalOf(lock[path]) : []))
    .filter((name) => !isThere('.', name))
  return [...new Set([...asked, ...optional])].sort()
}

const namesIn = (source) =>
  [...source.matchAll(ASKED)]
    .flatMap(([, , called, , imported]) => NAME.exec(called ?? imported)?.[0] ?? [])
    .filter((name) => !builtinModules.includes(name))

const optionalOf = ({ optionalDependencies = {}, peerDependenciesMeta = {} }) => [
  ...Object.keys(optionalDependencies),
  ...Object.keys(peerDependenciesMeta).filter((name) => peerDependenciesMeta[name].optional),
]
