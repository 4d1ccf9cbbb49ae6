import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

interface File {
  readonly path: string
  readonly content: Buffer
}
interface StandIns {
  standInsFor(files: readonly File[], lock: object): readonly File[]
  lackedBy(files: readonly File[]): readonly string[]
}
const { standInsFor, lackedBy } = (await import(new URL('../scripts/standIns.mjs', import.meta.url).href)) as StandIns

const ASKS = `
const tell = (error) => console.log(error.code)
const named = 'optional'
for (const ask of [() => require('plain'), () => require('@deep/er/part.js'), () => require(named)])
  try { ask() } catch (error) { tell(error) }
import("imported").catch(tell)
require('there'); require('node:fs'); require('fs/promises'); require('./near.cjs')
`

test('attack 316: a package that the program lacks is not taken from a folder above it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-above-'))
  const put = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const theirs = ['plain', '@deep/er', 'optional', 'imported']
  for (const name of theirs)
    for (const file of ['index.js', 'part.js']) put(`node_modules/${name}/${file}`, "console.log('theirs')")
  const files = Object.entries({
    'node_modules/asking/main.cjs': ASKS,
    'node_modules/asking/near.cjs': '',
    'node_modules/there/index.js': '',
  }).map(([path, text]) => ({ path, content: Buffer.from(text) }))
  const run = () => {
    const script = join(folder, 'me/program/node_modules/asking/main.cjs')
    return spawnSync(process.execPath, [script], { encoding: 'utf8' }).stdout.trim().split('\n')
  }
  try {
    for (const { path, content } of files) put(`me/program/${path}`, content)
    expect(run()).toEqual(Array(4).fill('theirs'))
    const lock = { 'node_modules/asking': { peerDependenciesMeta: { optional: { optional: true } } } }
    const made = standInsFor(files, lock)
    for (const { path, content } of made) put(`me/program/${path}`, content)
    expect(run()).toEqual([...Array(3).fill('MODULE_NOT_FOUND'), 'ERR_MODULE_NOT_FOUND'])
    expect(made.map(({ path }) => dirname(path)).sort()).toEqual(theirs.map((name) => `node_modules/${name}`).sort())
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the prover on a box asks for nothing that it does not bring along, but for koffi of other systems', () => {
  const release = fileURLToPath(new URL('../dist/release/prover-light', import.meta.url))
  const paths = readdirSync(release, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'))
  const lacked = lackedBy(paths.map((path) => ({ path, content: readFileSync(join(release, path)) })))
  expect(paths).toContain('prover.js')
  expect(lacked).not.toContain('@koromix/koffi-linux-x64')
  expect(lacked.filter((name) => !name.startsWith('@koromix/koffi-'))).toEqual([])
})
