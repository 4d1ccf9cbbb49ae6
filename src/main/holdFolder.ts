import { lockFolder } from '../drivers/system/lockFolder.ts'
import type { TouchstoneError } from '../ports/errors.ts'
import { EXIT } from './exitCodes.ts'

/** A long-running command, alone in its folder, that ends on Ctrl-C or where its `stop` is asked for. */
export async function holdFolder(
  { folder, inUse }: { readonly folder: string; readonly inUse: () => TouchstoneError },
  signal: AbortSignal,
  work: (ended: AbortSignal) => Promise<number>,
): Promise<number> {
  const asked = new AbortController()
  const unlock = await lockFolder(folder, inUse, () => asked.abort())
  try {
    return await work(AbortSignal.any([signal, asked.signal]))
  } catch (error) {
    // What it was at when it was asked to end is given up; what went wrong while it ended is told.
    if (asked.signal.aborted && error instanceof Error && error.name === 'AbortError') return EXIT.genuine
    throw error
  } finally {
    await unlock()
  }
}
