import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
// @ts-expect-error: a script without declarations
import { CORE_IMPORTS, importsOf, mayImport, violationsOf } from '../scripts/checkLayers.mjs'

describe('the layers', () => {
  test('a core folder sees what the graph gives it, and nothing else', () => {
    expect(mayImport('core/proof', 'core/bytes')).toBe(true)
    expect(mayImport('core/bytes', 'core/proof')).toBe(false)
    // Neither comes before the other: a linear order would allow one of the two.
    expect(mayImport('core/wire', 'core/lease') || mayImport('core/lease', 'core/wire')).toBe(false)
    expect(mayImport('core/unlisted', 'core/bytes')).toBe(false)
    expect(mayImport('core/proof', 'ports')).toBe(false)
  })

  test('the graph of the core names every folder and has no circle', () => {
    const graph = CORE_IMPORTS as Record<string, string[]>
    const reaches = (from: string): string[] => graph[from]!.flatMap((to) => [to, ...reaches(to)])
    expect(Object.keys(graph).sort()).toEqual(readdirSync(new URL('../src/core', import.meta.url)).sort())
    for (const folder of Object.keys(graph)) expect(reaches(folder)).not.toContain(folder)
  })

  test('drivers and apps never see each other; main sees both', () => {
    expect(mayImport('drivers/gpu', 'apps/prover')).toBe(false)
    expect(mayImport('apps/prover', 'drivers/gpu')).toBe(false)
    expect(mayImport('main', 'drivers/gpu') && mayImport('main', 'apps/prover')).toBe(true)
  })

  test('a planted import fails: upwards, of a driver library, of Node in core, or dynamic', () => {
    expect(violationsOf('core/proof/x.ts', "import { y } from '../../ports/clock.ts'")).toHaveLength(1)
    expect(violationsOf('core/lease/x.ts', "import { y } from '../wire/frames.ts'")).toHaveLength(1)
    expect(violationsOf('core/proof/x.ts', "import { readFile } from 'node:fs'")).toHaveLength(1)
    expect(violationsOf('apps/prover/x.ts', "import koffi from 'koffi'")).toHaveLength(1)
    expect(violationsOf('apps/prover/x.ts', "const y = await import('../../drivers/gpu/cpu/y.ts')")).toHaveLength(1)
    expect(violationsOf('core/proof/x.ts', "import { u32le } from '../bytes/bytes.ts'")).toHaveLength(0)
  })

  test('imports are found whatever their form', () => {
    const source =
      "import 'a'\nimport { b } from 'b'\nexport * from 'c'\nimport type {\n  D,\n} from 'd'\nawait import('e')"
    expect(importsOf(source).sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})
