import { concatBytes } from '../../core/bytes/bytes.ts'
import type { CheckedRow, Lot } from '../../core/chain/envelopes.ts'
import type { EnvelopeChecker } from '../../ports/envelopeChecker.ts'
import { AskedThread } from '../system/askedThread.ts'
import { scriptUrl } from '../system/scriptUrl.ts'

/** A row as it goes to the thread: its blocks as one piece, which is handed over and not copied, and where each of them ends. */
export interface PackedRow {
  readonly bytes: Uint8Array
  readonly ends: readonly number[]
  readonly lots: readonly (Lot | null)[]
}

/** A thread that checks signatures and proofs; it starts with the first row, since a node that is up to date needs none. */
export function openEnvelopeThread(genesisHash: Uint8Array): EnvelopeChecker {
  let thread: AskedThread<PackedRow, CheckedRow> | null = null
  return {
    // A thread that cannot be started is a refusal, as one that ended is.
    check: async ({ blocks, lots }) => {
      if (thread === null || thread.hasEnded)
        thread = new AskedThread(scriptUrl('./envelopeWorker.ts', import.meta.url), genesisHash)
      const bytes = concatBytes(...blocks)
      let end = 0
      const ends = blocks.map(({ length }) => (end += length))
      return await thread.ask({ bytes, ends, lots }, [bytes.buffer as ArrayBuffer])
    },
    close: async () => await thread?.close(),
  }
}
