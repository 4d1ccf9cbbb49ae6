import { createFastestEngine } from '../../core/engine/createEngine.ts'
import type { RejectReason } from '../../core/proof/reasons.ts'
import { rangeVerifier } from '../../core/proof/verifyPart.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import { firstWrong } from './firstWrong.ts'
import type { TabKernels, TabQuestion } from './tabWorker.ts'

/** The slice of a browser that is used here: neither the language library nor Node's types declare it. */
interface TabWorker {
  onmessage: ((event: { readonly data: RejectReason | null }) => void) | null
  onerror: ((event: { preventDefault(): void }) => void) | null
  postMessage(question: TabQuestion): void
  terminate(): void
}

interface Browser {
  readonly Worker?: new (script: URL, options: { readonly type: 'module' }) => TabWorker
  readonly navigator?: { readonly hardwareConcurrency?: number }
}

const browser: Browser = globalThis as Browser

/** Beyond this a certificate is cut into too few pieces. */
const MOST_THREADS = 16

export interface TabCheckerOptions extends TabKernels {
  /** Where the bundle of `tabWorker.ts` lies. */
  readonly script: () => URL
  readonly threads?: number | undefined
}

/**
 * Verifies in the workers of a browser. Where none may be started, as in a page opened from a file, it does so in the page's
 * own thread, and lets the page breathe in between.
 */
export async function openTabChecker({ wasm, relaxed, script, threads }: TabCheckerOptions): Promise<OpeningChecker> {
  const kernels = { wasm, relaxed }
  const count = Math.min(threads ?? browser.navigator?.hardwareConcurrency ?? 1, MOST_THREADS)
  const started = await Promise.allSettled(Array.from({ length: count }, () => startThread(script, kernels)))
  const ready = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const all = ready.length > 0 ? ready : [await thisThread(kernels)]
  return {
    async check(run, ranges, onDone, signal) {
      const results: (RejectReason | null)[] = []
      let next = 0
      const work = async ({ ask }: Thread) => {
        await ask({ run })
        for (let at = next++; at < ranges.length; at = next++) {
          signal.throwIfAborted()
          const range = ranges[at]!
          results[at] = await ask({ range })
          onDone(range.to - range.from)
        }
      }
      await Promise.all(all.map(work))
      return firstWrong(results, ranges.length)
    },
    close: async () => {
      for (const { stop } of all) stop()
    },
  }
}

interface Thread {
  ask(question: TabQuestion): Promise<RejectReason | null>
  stop(): void
}

async function startThread(script: () => URL, kernels: TabKernels): Promise<Thread> {
  // Throws in a world that has no workers.
  const worker = new browser.Worker!(script(), { type: 'module' })
  const ask = (question: TabQuestion): Promise<RejectReason | null> =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = (event) => {
        event.preventDefault()
        reject(new Error('openings not checked'))
      }
      worker.postMessage(question)
    })
  await ask(kernels)
  return { ask, stop: () => worker.terminate() }
}

async function thisThread({ wasm, relaxed }: TabKernels): Promise<Thread> {
  const engine = await createFastestEngine(wasm, relaxed)
  let verify: ReturnType<typeof rangeVerifier>
  return {
    async ask(question) {
      if ('run' in question) verify = rangeVerifier(question.run, engine)
      if (!('range' in question)) return null
      await new Promise((resolve) => setTimeout(resolve))
      return verify(question.range)
    },
    stop() {},
  }
}
