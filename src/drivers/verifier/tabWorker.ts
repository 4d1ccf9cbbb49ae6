import { createFastestEngine } from '../../core/engine/createEngine.ts'
import type { TileEngine } from '../../core/proof/tileEngine.ts'
import { type OpeningRange, type Run, rangeVerifier } from '../../core/proof/verifyPart.ts'

/** The engine first, then a run, then questions about it. Each has one answer; of a question it is what is wrong, or null. */
export type TabQuestion = TabKernels | { readonly run: Run } | { readonly range: OpeningRange }

/** Both builds of the engine: which of them serves is found out where it runs. */
export interface TabKernels {
  readonly wasm: Uint8Array
  readonly relaxed: Uint8Array
}

/** The slice of a worker's own world that is used here: neither the language library nor Node's types declare it. */
interface WorkerScope {
  onmessage: ((event: { readonly data: TabQuestion }) => void) | null
  postMessage(answer: unknown): void
}

declare const self: WorkerScope

let engine: TileEngine
let verify: ReturnType<typeof rangeVerifier>

const answer = async (data: TabQuestion) => {
  if ('wasm' in data) engine = await createFastestEngine(data.wasm, data.relaxed)
  if ('run' in data) verify = rangeVerifier(data.run, engine)
  self.postMessage('range' in data ? verify(data.range) : null)
}

// A promise that fails is heard by nobody: who asked hears of what is thrown outside of one.
self.onmessage = ({ data }) =>
  void answer(data).catch((error) =>
    setTimeout(() => {
      throw error
    }),
  )
