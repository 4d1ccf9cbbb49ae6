import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { verifyOpenings } from '../../src/core/proof/verifyPart.ts'
import type { OpeningChecker } from '../../src/ports/openingChecker.ts'

/** Recomputes openings in this very thread. */
export function inlineChecker(engine: TileEngine): OpeningChecker {
  return {
    check: async (run, ranges, onDone, signal) => {
      for (const range of ranges) {
        signal.throwIfAborted()
        const reason = verifyOpenings(run, range, engine)
        if (reason) return reason
        onDone(range.to - range.from)
      }
      return null
    },
    close: async () => {},
  }
}
