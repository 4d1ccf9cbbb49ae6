import type { GpuModel } from './catalogue.ts'
import { fail } from './readFields.ts'

/** Twins are stated on both sides and share a chip: a pair that only looks alike would hide a swap. */
export function checkTwins(models: readonly GpuModel[]): void {
  const byId = new Map(models.map((model) => [model.id, model]))
  for (const model of models) {
    for (const id of model.twins) {
      const twin = byId.get(id)
      const where = `model ${model.id}, field twins`
      if (twin === undefined) fail(where, `names ${id}, which is not in the catalogue`)
      if (id === model.id) fail(where, 'names the model itself')
      if (twin.chip !== model.chip) fail(where, `names ${id}, which has another chip`)
      if (!twin.twins.includes(model.id)) fail(where, `names ${id}, which does not name it back`)
    }
  }
}
