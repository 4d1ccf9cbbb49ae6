import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SHIPPED_CATALOGUE } from '../../../test/sim/shippedCatalogue.ts'
import { loadCatalogue } from './loadCatalogue.ts'

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
