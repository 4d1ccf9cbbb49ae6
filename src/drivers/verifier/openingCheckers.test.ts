import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { inlineChecker } from '../../../test/support/inlineChecker.ts'
import { honestProgram } from '../../../test/support/inProcessBox.ts'
import { openReferenceDevice } from '../../../test/support/openReferenceDevice.ts'
import { testEngine } from '../../../test/support/testEngine.ts'
import { verifyInProcess } from '../../../test/support/verifyInProcess.ts'
import type { ReadCertificate } from '../../core/certificate/readCertificate.ts'
import { readCertificate } from '../../core/certificate/readEvidence.ts'
import { openingRanges } from '../../core/proof/openingRanges.ts'
import type { Run } from '../../core/proof/verifyPart.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import { AskedThread } from '../system/askedThread.ts'
import { scriptUrl } from '../system/scriptUrl.ts'
import { chooseEngine } from './engineStart.ts'
import { openOwnThreadChecker } from './openOwnThreadChecker.ts'
import { openTabChecker } from './openTabChecker.ts'
import { openThreadedChecker } from './openThreadedChecker.ts'
import type { RangeQuestion } from './verifierWorker.ts'

const never = new AbortController().signal
const nobody = () => {}
let honest: Run
let forged: Run

beforeAll(async () => {
  const engine = await testEngine()
  const program = honestProgram({ devices: [openReferenceDevice({ engine })] })
  const { certificate } = await verifyInProcess({ program, catalogue: await shippedCatalogue(), engine })
  const { run } = readCertificate(certificate, () => true) as ReadCertificate
  honest = run
  const bent = (bytes: Uint8Array) => bytes.map((byte, i) => (i > bytes.length / 2 ? byte ^ 1 : byte))
  forged = {
    ...run,
    parts: run.parts.map((part) => ({
      ...part,
      devices: part.devices.map((device) => ({ ...device, openings: bent(device.openings) })),
    })),
  }
})

describe.each([
  ['threads', () => openThreadedChecker(2)],
  ['its own thread', openOwnThreadChecker],
])('openings are checked on %s', (_, open) => {
  let checker: OpeningChecker
  beforeAll(async () => {
    checker = await open()
  })
  afterAll(() => checker.close())

  test('runs at the same time each get the answer of a plain loop', async () => {
    const inline = inlineChecker(await testEngine())
    const reason = await inline.check(forged, openingRanges(forged), nobody, never)
    expect(reason).not.toBeNull()
    const answers = [honest, forged, honest].map((run) => checker.check(run, openingRanges(run), nobody, never))
    expect(await Promise.all(answers)).toEqual([null, reason, null])
  })

  test('who asks hears of every opening', async () => {
    let heard = 0
    await checker.check(honest, openingRanges(honest), (openings) => (heard += openings), never)
    expect(heard).toBe(openingRanges(honest).reduce((sum, { from, to }) => sum + to - from, 0))
  })

  test('an abort ends its own run at once, and no other', async () => {
    const stop = new AbortController()
    const ranges = openingRanges(honest)
    const many = Array.from({ length: 50 }, () => ranges).flat()
    let heard = 0
    const hear = (openings: number) => {
      heard += openings
      stop.abort(new Error('enough'))
    }
    const aborted = checker.check(honest, many, hear, stop.signal)
    const other = checker.check(honest, ranges, nobody, never)
    await expect(aborted).rejects.toThrow('enough')
    expect(heard).toBe(ranges[0]!.to)
    expect(await other).toBeNull()
    await expect(checker.check(honest, ranges, nobody, stop.signal)).rejects.toThrow('enough')
  })
})

test('after its threads have ended a check is refused, not left waiting', async () => {
  const closed = await openThreadedChecker(1)
  await closed.close()
  await expect(closed.check(honest, openingRanges(honest), nobody, never)).rejects.toThrow('ended')
})

describe('attack 301: what nobody checked is not right', () => {
  const range = { part: 0, device: 0, from: 0, to: 1 }

  test('a thread that was not told of a run does not say that nothing is wrong in it', async () => {
    const script = scriptUrl('./verifierWorker.ts', import.meta.url)
    const thread = new AskedThread<RangeQuestion, unknown>(script, await chooseEngine())
    expect(await thread.ask({ id: 7, range })).toBeUndefined()
    await thread.close()
  })

  test.each([0, 1])('nor does a page whose workers leave question %i open', async (open) => {
    const kernels = { wasm: new Uint8Array(), relaxed: new Uint8Array(), script: () => new URL('file:///none') }
    class Forgetful {
      onmessage: ((event: { readonly data: unknown }) => void) | null = null
      postMessage(question: object) {
        const isOpen = 'range' in question && (question.range as typeof range).from === open
        queueMicrotask(() => this.onmessage?.({ data: isOpen ? undefined : null }))
      }
      terminate() {}
    }
    vi.stubGlobal('Worker', Forgetful)
    const checker = await openTabChecker({ ...kernels, threads: 2 }).finally(() => vi.unstubAllGlobals())
    const ranges = [range, { ...range, from: 1, to: 2 }]
    await expect(checker.check(honest, ranges, nobody, never)).rejects.toThrow('not checked')
    await checker.close()
  })
})
