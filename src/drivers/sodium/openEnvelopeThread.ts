import type { CheckedRow, RowToCheck } from '../../core/chain/envelopes.ts'
import type { EnvelopeChecker } from '../../ports/envelopeChecker.ts'
import { AskedThread } from '../system/askedThread.ts'
import { scriptUrl } from '../system/scriptUrl.ts'

/** A thread that checks signatures and proofs; it starts with the first row, since a node that is up to date needs none. */
export function openEnvelopeThread(genesisHash: Uint8Array): EnvelopeChecker {
  let thread: AskedThread<RowToCheck, CheckedRow> | null = null
  return {
    check: (row) => {
      if (thread === null || thread.hasEnded)
        thread = new AskedThread(scriptUrl('./envelopeWorker.ts', import.meta.url), genesisHash)
      return thread.ask(row)
    },
    close: async () => await thread?.close(),
  }
}
