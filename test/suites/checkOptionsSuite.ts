import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { KINDS, type ReadableFiles, type ReadFile } from '../support/readableFiles.ts'
import { type Given, optionsOf, runCommand } from '../support/runCommand.ts'

/** A cell of the table: a command with a file and options, and what it must not end with. */
interface Cell {
  readonly given: Given
  isWrong(exit: number): boolean
}

const isSlow = ({ kind }: ReadFile): boolean => KINDS[kind] === 'slow'

/** Of a file these options are read, and the others refused: where each takes long, the others wait for the long tests. */
const columnsOf = (command: string, row: ReadFile, isWhole: boolean): readonly string[] =>
  optionsOf(command).filter((option) => isWhole || !isSlow(row) || option in row.base || option in row.met)

/**
 * The table of "an option is taken, judges nothing, and the command ends with 0" (attacks 291, 292 and 295, and those from 189 on): every kind of
 * file with every option of the command, as commander knows them. What is not met is never a 0, alone and beside what is.
 */
export function checkOptionsSuite(read: ReadableFiles, isWhole: boolean): void {
  const { folder, home } = read

  /** Options that judge nothing: they show, or write. A command ends with them as it does without, or refuses them (2). */
  const showing: Given = {
    ...{ json: [], verbose: [], sample: ['1'], html: [join(folder, 'page.html')] },
    ...{ summary: [join(folder, 'new-summary.json')], countersign: [join(folder, 'countersigned.json')] },
  }
  const wanted: Readonly<Record<string, Given>> = { check: {}, report: { html: showing.html! } }

  const rowOf = (kind: string): ReadFile => read.files.find((file) => file.kind === kind)!
  /** The cells that ended as they must not, in words. */
  async function wrongCells(command: string, { file, base }: ReadFile, cells: readonly Cell[]): Promise<string[]> {
    const known = optionsOf(command)
    const own = Object.fromEntries(Object.entries(base).filter(([option]) => known.includes(option)))
    const wrong: string[] = []
    for (const { given, isWrong } of cells) {
      const { exit } = await runCommand([command, file], { ...wanted[command], ...own, ...given }, home)
      if (isWrong(exit)) wrong.push(`${Object.keys(given).join(' ')}: ${exit}`)
    }
    return wrong
  }

  /** What a row must not end with, option by option. */
  function cellsOf(row: ReadFile, columns: readonly string[]): Cell[] {
    const { met, always = {}, exit } = row
    return columns.flatMap((option) => [
      ...(option in showing ? [{ given: { [option]: showing[option]! }, isWrong: other(exit, 2) }] : []),
      ...(option in read.unmet && !(option in always) ? [unmetCell({ [option]: read.unmet[option]! })] : []),
      ...(option in met && (isWhole || !isSlow(row))
        ? [{ given: { [option]: met[option]! }, isWrong: other(exit) }]
        : []),
    ])
  }

  test('every option of check and report has its place in the table', () => {
    const places = [...Object.keys(showing), ...Object.keys(read.unmet)]
    expect([...new Set([...optionsOf('check'), ...optionsOf('report')])].sort()).toEqual(places.sort())
    expect(read.files.map(({ kind }) => kind)).toEqual(Object.keys(KINDS))
  })

  const tried = Object.keys(KINDS).filter((kind) => isWhole || KINDS[kind as ReadFile['kind']] !== 'long')
  test.each(tried)('check: %s', async (kind) => {
    const row = rowOf(kind)
    const cells = cellsOf(row, columnsOf('check', row, isWhole))
    expect(await wrongCells('check', row, [{ given: {}, isWrong: other(row.exit) }, ...cells])).toEqual([])
  })

  describe('report ends as check does', () => {
    const read = ['certificate of an insecure preset', 'summary alone', 'summary with its certificate']
    test.each(read)('%s', async (kind) => {
      const row = rowOf(kind)
      expect(await wrongCells('report', row, cellsOf(row, optionsOf('report')))).toEqual([])
    })
  })

  describe('rent --proof', () => {
    // Nobody is dialled through a hub that is not there: who gets this far would have rented.
    const words = ['rent', `lease://hub#${'11'.repeat(32)}`, '--hours', '1']
    const wouldRent = async ({ file, base }: ReadFile, more: Given) => {
      const own = Object.fromEntries(Object.entries(base).filter(([option]) => ['trust', 'full'].includes(option)))
      return (await runCommand([...words, '--proof', file], { ...own, ...more }, home)).fault === 'NO_LEASE_HUB'
    }
    const judging = ['trust', 'claim', 'full']
    const open: Given = { unproven: [] }

    test('every option judges the file, or says whom to rent from, for how long and how to tell', () => {
      const others = ['hours', 'key', 'lease-networks', 'end', 'verbose', 'json', 'proof', 'unproven']
      expect([...optionsOf('rent')].sort()).toEqual([...judging, ...others].sort())
    })

    test('attack 295: rents by what check ends with 0, and by what it ends with 4 where that is asked for', async () => {
      const exits = { 'certificate of an insecure preset': 0, 'summary with its certificate': 0, 'summary alone': 4 }
      for (const [kind, exit] of Object.entries(exits)) {
        expect([kind, await wouldRent(rowOf(kind), {})]).toEqual([kind, exit === 0])
        expect([kind, await wouldRent(rowOf(kind), open)]).toEqual([kind, true])
        const asked = judging.flatMap((option) =>
          [{}, open].map((more) => ({ ...more, [option]: read.unmet[option]! })),
        )
        for (const given of asked)
          expect([kind, given, await wouldRent(rowOf(kind), given)]).toEqual([kind, given, false])
      }
    })

    test('rents by no file that is about no box, whatever is asked', async () => {
      for (const row of read.files.filter(({ kind }) => /^(evidence|receipt)/.test(kind)))
        for (const more of [{}, open]) expect([row.kind, await wouldRent(row, more)]).toEqual([row.kind, false])
    })
  })

  describe('what is not met is no yes beside anything that is', () => {
    const paired = Object.entries(KINDS).filter(([, how]) => how === 'cheap' || (isWhole && how !== 'long'))
    test.each(paired)('%s', async (kind) => {
      const row = rowOf(kind)
      const besides = Object.entries(row.met)
      const cells = Object.entries(read.unmet).flatMap(([option, values]) =>
        option in (row.always ?? {})
          ? []
          : besides
              .filter(([met]) => met !== option && !isSaid(met, option))
              .map(([met, its]) => unmetCell({ [met]: its, [option]: values })),
      )
      expect(await wrongCells('check', row, cells)).toEqual([])
    })
  })
}

/** Whose signature is asked for is trusted too: that is what the option says. */
const isSaid = (met: string, unmet: string): boolean => met === 'signer' && unmet === 'trust'

const other =
  (...exits: readonly number[]) =>
  (exit: number) =>
    !exits.includes(exit)

const unmetCell = (given: Given): Cell => ({ given, isWrong: (exit) => exit === 0 })
