import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SHIPPED_CATALOGUE } from '../../../test/sim/shippedCatalogue.ts'
import { LARGEST_COHORT } from '../../core/schedule/largestCohort.ts'
import { loadCatalogue } from '../../drivers/system/loadCatalogue.ts'
import { readValidatorConfig } from './validatorConfig.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-config-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const read = (text: string) => {
  const path = join(folder, 'validator.yaml')
  writeFileSync(path, text)
  return readValidatorConfig(path)
}
const STORE = 'store: embedded:./data\n'

describe('readValidatorConfig', () => {
  test('one line is enough; the rest has defaults', () => {
    expect(read(STORE)).toMatchObject({
      store: 'embedded:./data',
      preset: 'mainnet',
      base: folder,
      rounds: { everyBlocks: 360, maxDelaySeconds: 1200 },
      api: { host: '127.0.0.1', port: 8787, writers: [] },
    })
    expect(read(`${STORE}api: null\n`).api).toBeNull()
    expect(read(`${STORE}leaseHub: '[::1]:7879'\n`).leaseHub).toEqual({ host: '::1', port: 7879 })
  })

  test('attack 233: a fleet of up to 256 boxes is one cohort, and its places hold all of it', () => {
    expect(read(STORE).work).toMatchObject({ cohortSize: 256, concurrency: 256 })
    expect(read(`${STORE}work: { cohortSize: 1024, concurrency: 1024 }\n`).work.cohortSize).toBe(LARGEST_COHORT)
  })

  test('the example shows every setting at its default', () => {
    const example = read(readFileSync(new URL('../../../examples/validator.yaml', import.meta.url), 'utf8'))
    const { boxes, ...rest } = example
    const { boxes: _, ...defaults } = read(STORE)
    expect(rest).toEqual(defaults)
    expect(boxes.map(({ id }) => id)).toEqual(['box-1', 'this-machine'])
  })

  test.each([
    ['stor: x\n', 'line 1: stor: no such field'],
    ['preset: tiny\n', ': store is missing'],
    [`${STORE}rounds:\n  everyMinute: 5\n`, 'line 3: rounds.everyMinute: no such field'],
    [`${STORE}work:\n  concurrency: many\n`, 'line 3: work.concurrency: must be a'],
    [`${STORE}preset: huge\n`, 'line 2: preset:'],
    ['store: mysql://x\n', 'line 1: store: must be embedded:FOLDER or postgres://…'],
    [
      `${STORE}boxes:\n  - id: a\n    address: ssh://x\n    provider: p\n  - id: b\n    address: telnet://x\n    provider: p\n`,
      'line 7: "telnet://x" is not the address of a box',
    ],
    [
      `${STORE}boxes:\n  - { id: a, address: local, provider: p }\n  - { id: a, address: local, provider: p }\n`,
      'line 2: boxes: two boxes have the same id',
    ],
    [
      `${STORE}work: { concurrency: 2, cohortSize: 4 }\n`,
      'line 2: work.cohortSize: must not be above work.concurrency',
    ],
    [`${STORE}boxes: [\n`, 'line'],
    [`${STORE}a: &a [1]\nb: [*a, *a]\n`, ': anchors and aliases are not read'],
    ['"\\e[31mred": 1\n', 'line 1: ?[31mred: no such field'],
    [`${STORE}boxes:\n  - { id: a, address: local, provider: p, claim: "1x \\0" }\n`, 'line 3: boxes.0.claim:'],
    [`${STORE}leaseHub: 7879\n`, 'line 2: leaseHub:'],
    [`${STORE}leaseHub: 127.0.0.1:70000\n`, 'line 2: leaseHub: must be host:port'],
    [
      `${STORE}boxes: [{ id: a, address: "lease://hub#${'0'.repeat(64)}", provider: p }]\n`,
      'line 2: boxes: a box at lease://hub dials in: set leaseHub',
    ],
    [`${STORE}${STORE}`, 'line 2: Map keys must be unique'],
    [`${STORE}api: { writers: [abc] }\n`, 'line 2: api.writers.0: must be 64 hex digits'],
    ['- a\n', 'the file'],
  ])('%j is refused, naming field and line', (text, sentence) => {
    expect(() => read(text)).toThrow(sentence)
  })

  test('a claim that names no known card is refused with its line and what was probably meant', async () => {
    const catalogue = await loadCatalogue(SHIPPED_CATALOGUE)
    const path = join(folder, 'claims.yaml')
    const boxes = (claim: string) =>
      `${STORE}boxes:\n  - { id: a, address: local, provider: p }\n  - id: b\n    address: local\n    provider: p\n    claim: ${claim}\n`
    writeFileSync(path, boxes('4090'))
    expect(() => readValidatorConfig(path, catalogue)).toThrow('boxes.1.claim')
    writeFileSync(path, boxes('2x 4090'))
    expect(() => readValidatorConfig(path, catalogue)).toThrow(
      expect.objectContaining({
        message: `${path}, line 7: the claim "2x 4090" cannot be read: the catalogue has no card of that name`,
        nextStep: expect.stringContaining('"2x RTX 4090"'),
        detail: expect.objectContaining({ code: 'BAD_CLAIM' }),
      }),
    )
    writeFileSync(path, boxes('2x RTX 4090'))
    expect(readValidatorConfig(path, catalogue).boxes[1]).toMatchObject({ claim: '2x RTX 4090' })
  })

  test('a file that is not there is a usage error with a next step', () => {
    expect(() => readValidatorConfig(join(folder, 'none.yaml'))).toThrow('none.yaml cannot be read')
  })
})
