import { fileURLToPath } from 'node:url'
import type { Catalogue, GpuModel } from '../../src/core/identify/catalogue.ts'
import { loadCatalogue } from '../../src/drivers/system/loadCatalogue.ts'

export const SHIPPED_CATALOGUE = fileURLToPath(new URL('../../catalogue/gpus.yaml', import.meta.url))

let loaded: Promise<Catalogue> | null = null

/** Read once for all tests of a process: nobody may change it. */
export function shippedCatalogue(): Promise<Catalogue> {
  loaded ??= loadCatalogue(SHIPPED_CATALOGUE)
  return loaded
}

/** One model of it, where no card is named: every certificate holds its whole catalogue, and a test may issue hundreds. */
export async function smallCatalogue(): Promise<Catalogue> {
  const { models, ...rest } = await shippedCatalogue()
  return { ...rest, models: models.slice(0, 1) }
}

export function modelOf(catalogue: Catalogue, id: string): GpuModel {
  const found = catalogue.models.find((model) => model.id === id)
  if (found === undefined) throw new Error(`no model ${id}`)
  return found
}
