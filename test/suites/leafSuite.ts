import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { fromBase64 } from '../../src/core/bytes/base64.ts'
import { sealEnvelope, takeApart } from '../../src/core/certificate/envelope.ts'
import { LEAF_TABLE, type Places } from '../support/leafTable.ts'
import {
  changedAt,
  hostileValues,
  type Json,
  type Leaf,
  leavesOf,
  type REMOVED,
  withKeyTwice,
} from '../support/leaves.ts'
import type { KINDS, ReadableFiles, ReadFile } from '../support/readableFiles.ts'
import { runCommand } from '../support/runCommand.ts'
import { VALIDATOR } from '../support/verifyInProcess.ts'

interface Said {
  readonly exit: number
  readonly text: string
  readonly json: string
}

/** A document that somebody else wrote, and what a command says of another one in its place. */
interface Tried {
  readonly document: Json
  run(spelling: string): Promise<Said>
}

const namesIn = (names: string): readonly string[] => names.split(/\s+/).filter(Boolean)
const isOf = (name: string) => (pattern: string) =>
  pattern.endsWith('.**') ? name.startsWith(pattern.slice(0, -2)) : name === pattern

/** Where a place stands in the table; the narrower word first. */
function placeOf(name: string, { counted, told, unseen }: Places): 'counted' | 'told' | 'unseen' | null {
  if (Object.hasOwn(told, name)) return 'told'
  if (namesIn(unseen).some(isOf(name))) return 'unseen'
  return namesIn(counted).some(isOf(name)) ? 'counted' : null
}

/** What is left to compare once the other side's word is taken out. */
function without(said: Said, { told }: Places, name: string): string {
  const { text, json } = told[name] ?? { json: [] }
  const report = JSON.parse(said.json)
  for (const key of json) delete report[key]
  return `${text ? said.text.replace(text, '') : said.text}\n${JSON.stringify(report)}`
}

/**
 * "A word or a number that an adversary states is shown as a fact, or becomes a yes" (attacks 299, 300, 337 to 344): every
 * place of every kind of file with other values in it. `isWhole`: all values, and that each place is where it belongs.
 */
export function leafSuite(read: ReadableFiles, isWhole: boolean): void {
  const { folder, home } = read

  /** A file that can be read, signed again by its author with whatever he likes in it. */
  function triedFile({ file, base }: ReadFile): Tried {
    const bytes = new Uint8Array(readFileSync(file))
    const { line, evidence } = takeApart(bytes)
    const { payload } = JSON.parse(line)
    const target = join(folder, 'hostile')
    const sealed = (spelling: string) =>
      Buffer.concat([Buffer.from(sealEnvelope(new TextEncoder().encode(spelling), VALIDATOR)), evidence])
    return {
      document: payload === undefined ? JSON.parse(line) : JSON.parse(new TextDecoder().decode(fromBase64(payload)!)),
      run: async (spelling) => {
        writeFileSync(target, payload === undefined ? spelling : sealed(spelling))
        const { exit, stdout } = await runCommand(['check', target], { ...base, verbose: [] }, home)
        const json = exit === 0 ? (await runCommand(['check', target], { ...base, json: [] }, home)).stdout : ''
        return { exit, text: stdout.replace(/\s+/g, ' '), json }
      },
    }
  }

  const tried = (Object.keys(LEAF_TABLE) as (keyof typeof KINDS)[]).map((kind) => [kind, LEAF_TABLE[kind]!] as const)
  const fileOf = (kind: string): Tried => triedFile(read.files.find((file) => file.kind === kind)!)

  test.each(tried)('%s: every place is counted, told or unseen', (kind, places) => {
    const all = leavesOf(fileOf(kind).document)
    expect(all.filter(({ name }) => placeOf(name, places) === null)).toEqual([])
  })

  test.each(tried)('attack 341, %s: no key comes twice', async (kind) => {
    const { document, run } = fileOf(kind)
    expect((await run(withKeyTwice(document)!)).exit).not.toBe(0)
  })

  const swept = tried.filter(([kind]) => isWhole || QUICK.includes(kind))
  test.each(swept)(
    'attack 352, %s: another value loses the yes, or is told as whose it is, or is seen nowhere',
    async (kind, places) => {
      const { document, run } = fileOf(kind)
      const honest = await run(JSON.stringify(document))
      expect(honest.exit).toBe(0)
      const bare = Object.entries(places.told).filter(([, { whose }]) => !whose.test(honest.text))
      expect(bare).toEqual([])
      const wrong: string[] = []
      const moved = new Set<string>()
      for (const leaf of placesTried(document, isWhole))
        for (const value of hostileValues(leaf.value).slice(0, isWhole ? undefined : 1)) {
          const said = await run(JSON.stringify(changedAt(document, leaf.path, value)))
          if (said.exit !== 0) continue
          moved.add(leaf.name)
          const isOther = without(said, places, leaf.name) !== without(honest, places, leaf.name)
          const isCounted = placeOf(leaf.name, places) === 'counted' && !isReordered(value, leaf.value)
          if (isOther || isCounted) wrong.push(`${leaf.name} = ${String(JSON.stringify(value)).slice(0, 60)}`)
        }
      expect(wrong).toEqual([])
      const named = [...Object.keys(places.told), ...namesIn(places.unseen)].filter((name) => !name.endsWith('.**'))
      if (isWhole) expect(named.filter((name) => !moved.has(name))).toEqual([])
    },
  )
}

/** Of places with the same name one is tried where time is short, and of a catalogue, which stands behind one hash, always. */
function placesTried(document: Json, isWhole: boolean): readonly Leaf[] {
  const first = new Map(
    leavesOf(document)
      .toReversed()
      .map((leaf) => [leaf.name, leaf]),
  )
  const isTried = (leaf: Leaf) =>
    (isWhole && !/^predicate\.catalogue\./.test(leaf.name)) || first.get(leaf.name) === leaf
  return leavesOf(document).filter(isTried)
}

/** Those beside the cheap ones that are tried every time. */
const QUICK: readonly (keyof typeof KINDS)[] = [
  'receipt by openings',
  'receipt of a product',
  'receipt of a private answer',
  'summary with its certificate',
]

/** The same keys with the same values, in another order. */
const isReordered = (value: Json | typeof REMOVED, before: Json): boolean => isDeepStrictEqual(value, before)
