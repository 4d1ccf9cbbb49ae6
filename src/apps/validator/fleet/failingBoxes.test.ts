import { beforeEach, describe, expect, test } from 'vitest'
import { testDeps, testRules } from '../../../../test/support/fleetKit.ts'
import {
  all,
  card,
  fleetUntil,
  honest,
  unreachable,
  useStores,
  verifying,
  words,
} from '../../../../test/support/fleetOnPostgres.ts'
import { ownMachine, type ProverProgram } from '../../../../test/support/inProcessBox.ts'
import { entry } from '../../../../test/support/storeFixtures.ts'
import { fault as remoteFault } from '../../../drivers/remote/faults.ts'
import { fault as storeFault } from '../../../drivers/store/faults.ts'
import { fault as systemFault } from '../../../drivers/system/faults.ts'
import { portFault } from '../../../ports/faults.ts'
import type { Store } from '../../../ports/store.ts'
import type { VerifyJob } from './fleet.ts'

const { fresh, quiet } = useStores()
let store: Store
beforeEach(async () => {
  store = await fresh()
})

describe('boxes that fail', () => {
  test('attack 18: a failing box loses its score at once, is tried again with new seeds, and can come back', async () => {
    await store.putBox(entry('a'))
    let runs = 0
    const verify: VerifyJob = async (...args) => {
      if (++runs === 2) throw unreachable()
      return honest(...args)
    }
    const deps = testDeps(store, verify)
    const rules = await testRules({ retries: { limit: 2, intervalMs: 0 } })
    await fleetUntil(deps, rules, quiet)
    await store.addJob({ boxId: 'a', round: 1, kind: 'full', reason: 'asked', cohort: -1, delayMs: 0 })
    await fleetUntil(deps, rules, async () => runs === 3 && (await quiet()))
    const { items } = await store.history('a', all)
    expect(items.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['accepted', null],
      ['unreachable', 'BOX_UNREACHABLE'],
      ['accepted', null],
    ])
    expect(items[1]!.score).toBe(0)
    expect(new Set([items[0]!.runId, items[2]!.runId]).size).toBe(2)
    expect(await store.box('a')).toMatchObject({ status: 'verified', failuresTotal: 1, failuresInRow: 0 })
    expect(JSON.stringify(deps.lines)).not.toContain('raw words')
    expect(JSON.stringify(items)).not.toContain('raw words')
  })

  test('attack 18: the limit of tries ends a job; busy and our own faults are told apart from failures', async () => {
    for (const id of ['busy', 'ours', 'gone']) await store.putBox(entry(id))
    const verify: VerifyJob = async ({ boxId }) => {
      if (boxId === 'busy') throw portFault('DEVICE_BUSY', { what: words })
      if (boxId === 'ours') throw systemFault('KERNEL_FILE_MISSING', { name: words })
      throw remoteFault('SSH_AUTH_FAILED', { address: 'ssh://a', means: words })
    }
    await fleetUntil(testDeps(store, verify), await testRules({ retries: { limit: 1, intervalMs: 0 } }), quiet)
    expect(await store.box('busy')).toMatchObject({ status: 'busy', failuresTotal: 0, busyInRow: 2 })
    expect(await store.box('ours')).toMatchObject({ status: 'new', failuresTotal: 0 })
    expect(await store.box('gone')).toMatchObject({ status: 'failed', failuresTotal: 2, score: 0 })
  })

  test('attack 461: who is caught stays caught where the store refuses what it said; who is not is no failure', async () => {
    for (const id of ['caught', 'fair']) await store.putBox(entry(id))
    let refusing = false
    const picky: Store = {
      ...store,
      finishJob: async (finish) => {
        if (refusing && finish.result.inventory !== null) throw storeFault('RESULT_REFUSED', { state: '22P05' })
        return await store.finishJob(finish)
      },
    }
    const verify: VerifyJob = async (job, ...rest) => {
      const report = await honest(job, ...rest)
      if (!refusing || job.boxId === 'fair') return report
      const reason = { code: 'WRONG_LEAF', got: 'a', expected: 'b' }
      return { ...report, judgement: { ...report.judgement, outcome: 'rejected', reason } } as typeof report
    }
    const deps = testDeps(picky, verify)
    await fleetUntil(deps, await testRules(), quiet)
    const fair = (await store.box('fair'))!
    refusing = true
    for (const boxId of ['caught', 'fair'])
      await store.addJob({ boxId, round: 1, kind: 'full', reason: 'asked', cohort: -1, delayMs: 0 })
    await fleetUntil(deps, await testRules({ retries: { limit: 0, intervalMs: 0 } }), quiet)
    expect(await store.box('caught')).toMatchObject({ status: 'failed', score: 0, terms: [], failuresTotal: 1 })
    expect((await store.history('caught', all)).items[0]).toMatchObject({ outcome: 'rejected', code: 'WRONG_LEAF' })
    expect(await store.box('fair')).toMatchObject({ status: 'verified', score: fair.score, failuresTotal: 0 })
    expect((await store.history('fair', all)).items[0]).toMatchObject({ outcome: 'fault', code: 'RESULT_REFUSED' })
  })

  test('a box that never gets done loses its place and its score', async () => {
    await store.putBox(entry('a'))
    const hanging: VerifyJob = (_job, _hooks, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    await fleetUntil(testDeps(store, hanging), await testRules({ jobLimitMs: 50 }), quiet)
    expect((await store.history('a', all)).items[0]).toMatchObject({ outcome: 'unreachable', code: 'JOB_TIMEOUT' })
  })

  test('a box that answers garbage without end fails alone; the others are verified, and no log holds its words', async () => {
    for (const id of ['bad', 'good']) await store.putBox(entry(id))
    const garbage: ProverProgram = async ({ write }, signal) => {
      while (!signal.aborted) await write(new TextEncoder().encode('\u001b]0;evil\u0007'.repeat(500)))
    }
    const verify = verifying(({ boxId }) => (boxId === 'bad' ? garbage : ownMachine({ devices: [card()] })))
    const deps = testDeps(store, verify)
    await fleetUntil(deps, await testRules(), quiet)
    expect((await store.history('bad', all)).items[0]).toMatchObject({
      outcome: 'unreachable',
      code: 'PROVER_NOT_READY',
    })
    expect((await store.history('good', all)).items[0]).toMatchObject({ outcome: 'accepted' })
    expect(JSON.stringify(deps.lines)).not.toContain('evil')
  })
})
