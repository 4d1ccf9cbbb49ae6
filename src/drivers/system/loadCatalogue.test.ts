import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SHIPPED_CATALOGUE } from '../../../test/sim/shippedCatalogue.ts'
import { catalogueHash } from '../../core/identify/catalogue.ts'
import { loadCatalogue, type ParsedCatalogue } from './loadCatalogue.ts'
import { scriptUrl } from './scriptUrl.ts'

describe('loadCatalogue', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'catalogue-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  const load = async (text: string) => {
    const path = join(folder, 'cards.yaml')
    await writeFile(path, text)
    return loadCatalogue(path)
  }

  test('the shipped file holds at least 40 models', async () => {
    expect((await loadCatalogue(SHIPPED_CATALOGUE)).models.length).toBeGreaterThanOrEqual(40)
  })

  describe('what the build parsed', () => {
    const model = { id: 'one', name: 'One', chip: 'x', memory: { bytes: 1e9, source: 's' } }
    const rates = { fp32: [{ value: 1e12, basis: 'measured', source: 's' }] }
    const share = { low: 0.5, high: 1 }
    const rate = { datasheetConsumer: share, datasheetProfessional: share, measured: share }
    const rules = {
      rate,
      fp32: { datasheet: share, measured: share },
      bandwidth: { datasheet: share, measured: share },
    }
    const file = { version: 1, rules, sources: { s: { title: 'S', year: 2024 } }, models: [{ ...model, rates }] }
    const text = JSON.stringify(file)
    const sha256 = createHash('sha256').update(text).digest('hex')
    const loadWith = async (parsed: string, content = text) => {
      await writeFile(join(folder, 'own.yaml'), content)
      await writeFile(join(folder, 'parsed.json'), parsed)
      return await loadCatalogue(join(folder, 'own.yaml'), join(folder, 'parsed.json'))
    }

    test('stands for the very file that it was parsed from, and no other', async () => {
      const plain = await loadCatalogue(SHIPPED_CATALOGUE)
      const parsed = JSON.stringify({ sha256, catalogue: plain })
      expect(await loadWith(parsed)).toEqual(plain)
      expect((await loadWith(parsed, `${text}\n`)).models).toMatchObject([{ id: 'one', vendor: 'NVIDIA' }])
      expect((await loadWith('{"sha256":')).models).toMatchObject([{ id: 'one', vendor: 'NVIDIA' }])
    })

    test('is in dist/ what the file says, under the same hash', async () => {
      const script = scriptUrl('./loadCatalogue.ts', import.meta.url).href
      const built: typeof import('./loadCatalogue.ts') = await import(script)
      const parsed: ParsedCatalogue = JSON.parse(
        await readFile(new URL('../../../dist/catalogue.json', import.meta.url), 'utf8'),
      )
      const shipped = await readFile(SHIPPED_CATALOGUE)
      expect(parsed.sha256).toBe(createHash('sha256').update(shipped).digest('hex'))
      const plain = await loadCatalogue(SHIPPED_CATALOGUE)
      expect(await built.loadCatalogue(SHIPPED_CATALOGUE)).toEqual(plain)
      expect(catalogueHash(parsed.catalogue)).toBe(catalogueHash(plain))
    })
  })

  test('a missing file is a fault of the user with a next step', async () => {
    await expect(loadCatalogue(join(folder, 'none.yaml'))).rejects.toMatchObject({
      detail: { code: 'CATALOGUE_UNREADABLE' },
      blame: 'user',
    })
  })

  test('broken YAML, a key twice and aliases are refused', async () => {
    await expect(load('models: [')).rejects.toThrow(/cannot be used/)
    await expect(load('version: 1\nversion: 1\n')).rejects.toThrow(/unique/)
    await expect(load('version: &v 1\nmodels: [*v, *v]\n')).rejects.toThrow(/alias/i)
  })

  test('a wrong field is named', async () => {
    await expect(load('version: 2\n')).rejects.toThrow('Catalogue: version must be 1.')
  })
})
