import { openVrf } from '../../src/drivers/sodium/openVrf.ts'

export const library = await openVrf()
