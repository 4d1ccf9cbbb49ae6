import { type Catalogue, catalogueSchema, contradictionsIn } from '../core/identify/catalogue.ts'
import { requireForm } from '../core/params/requireForm.ts'

/** To read a catalogue takes longer than to compare a card with it. */
const checked = new WeakSet<Catalogue>()

export function requireCatalogue(catalogue: Catalogue): void {
  if (checked.has(catalogue)) return
  requireForm(catalogueSchema, catalogue, 'catalogue')
  for (const [where, problem] of contradictionsIn(catalogue)) throw new RangeError(`catalogue: ${where} ${problem}`)
  checked.add(catalogue)
}
