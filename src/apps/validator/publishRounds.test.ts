import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSigner } from '../../../test/support/testSigner.ts'
import { VirtualClock } from '../../../test/support/virtualClock.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { checkRound, type RoundRecord } from '../../core/ledger/roundRecord.ts'
import { faultsOf } from '../../ports/errors.ts'
import type { Ledger } from '../../ports/ledger.ts'
import type { Log } from '../../ports/log.ts'
import type { FleetRound, KeptRound, Standing, Store } from '../../ports/store.ts'
import { type PublisherDeps, publishRounds } from './publishRounds.ts'

const fault = faultsOf({ AWAY: { blame: 'network', message: 'away', nextStep: 'wait' } })

const signer = testSigner(7)
const validator = toHex(signer.publicKey)
const decay: PublisherDeps['decay'] = { freshMs: 1e12, halfLifeMs: 1e12 }

/** What a store keeps of rounds, by the rules of `test/suites/storeSuite.ts`, on a virtual clock. */
class RoundStore {
  rounds = 0
  open = 0
  settled = true
  standing: Standing[] = [{ id: 'box-1', score: 5, scoredAt: null, current: true, certificate: 'ab'.repeat(32) }]
  readonly kept = new Map<number, KeptRound & { readonly dueUs: number }>()
  readonly #clock: VirtualClock
  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  get asStore(): Store {
    const round = (number: number, done: number) => ({ number, settled: this.settled, jobs: 3, done }) as FleetRound
    const part: Pick<Store, 'rounds' | 'standings' | 'keepRound' | 'dueRound' | 'noteRound' | 'keptRound'> = {
      rounds: async () => ({
        items: [round(this.rounds, 3 - this.open), round(this.rounds - 1, 2)].filter(({ number }) => number > 0),
        next: null,
      }),
      standings: async () => this.standing,
      keepRound: async (record) => {
        if (this.kept.has(record.round)) return false
        this.kept.set(record.round, { record, state: 'waiting', tries: 0, said: null, dueUs: 0 })
        return true
      },
      dueRound: async () => {
        const [oldest] = this.waiting()
        return oldest && oldest.dueUs <= this.#clock.monotonicUs() ? oldest : null
      },
      noteRound: async ({ round: number }, { state, said, retryInMs }) => {
        const before = this.kept.get(number)!
        const dueUs = this.#clock.monotonicUs() + 1000 * (retryInMs ?? 0)
        if (before.state === 'waiting')
          this.kept.set(number, { ...before, state, said, tries: before.tries + 1, dueUs })
      },
      keptRound: async (_, number) =>
        [...this.kept.values()].filter(({ record }) => (number ?? record.round) === record.round).at(-1) ?? null,
    }
    return part as Store
  }

  waiting() {
    return [...this.kept.values()]
      .filter(({ state }) => state === 'waiting')
      .sort((a, b) => a.record.round - b.record.round)
  }
}

const lines: string[] = []
const say = (message: string) => void lines.push(message)
const log: Log = { debug: () => {}, info: say, warn: say, error: say }
const metrics = { add: () => {}, set: () => {}, replace: () => {}, observe: () => {}, text: () => '' }

function publisher(ledger: Pick<Ledger, 'publish'>, change: (store: RoundStore) => void = () => {}) {
  lines.length = 0
  const clock = new VirtualClock()
  const store = new RoundStore(clock)
  change(store)
  const stop = new AbortController()
  const deps = { clock, log, metrics, signer, decay, store: store.asStore, ledger: ledger as Ledger }
  return { clock, store, deps, stop }
}

const HOUR = 3_600_000

describe('rounds on their way to the ledger', () => {
  test('are closed when their jobs are done or the next one opens, signed, and published in their order', async () => {
    const sent: RoundRecord[] = []
    const ledger: Pick<Ledger, 'publish'> = {
      publish: async (record) => {
        sent.push(record)
        return { kind: 'published', where: 'here' }
      },
    }
    const { clock, store, deps, stop } = publisher(ledger)
    const running = publishRounds(deps, stop.signal)
    store.rounds = 1
    store.open = 1
    await clock.sleep(HOUR)
    expect(sent).toEqual([])
    store.open = 0
    store.settled = false
    await clock.sleep(HOUR)
    expect(sent).toEqual([])
    store.settled = true
    await clock.sleep(HOUR)
    store.standing = [
      { id: 'box-1', score: 0, scoredAt: null, current: true, certificate: 'ab'.repeat(32) },
      { id: 'a', score: 9, scoredAt: null, current: true, certificate: null },
    ]
    store.rounds = 3
    store.open = 2
    await clock.sleep(HOUR)
    stop.abort()
    await running
    expect(sent.map(({ round, entries }) => [round, entries])).toEqual([
      [1, [{ box: 'box-1', score: 5, certificate: 'ab'.repeat(32) }]],
      [
        2,
        [
          { box: 'a', score: 9, certificate: null },
          { box: 'box-1', score: 0, certificate: null },
        ],
      ],
    ])
    for (const record of sent) expect([record.validator, checkRound(record)]).toEqual([validator, null])
  })

  test('wait while the ledger is away, ask less and less often, and none is lost', async () => {
    let isAway = true
    const tries: number[] = []
    const { clock, store, deps, stop } = publisher(
      {
        publish: async ({ round }) => {
          tries.push(round)
          if (isAway) throw fault('AWAY')
          return { kind: 'published', where: 'here' }
        },
      },
      (made) => {
        made.rounds = 1
      },
    )
    const running = publishRounds(deps, stop.signal)
    for (let hour = 0; hour < 24; hour++) {
      await clock.sleep(HOUR)
      store.rounds++
    }
    expect(tries.length).toBeLessThan(40)
    expect(new Set(tries)).toEqual(new Set([1]))
    expect(lines.filter((line) => line === 'round not published; trying again')).toHaveLength(1)
    isAway = false
    await clock.sleep(2 * HOUR)
    stop.abort()
    await running
    expect([...store.kept.values()].map(({ state }) => state)).toEqual(Array(25).fill('published'))
  })

  test('one that the ledger refuses for good is kept, said, and holds up none after it', async () => {
    const { clock, store, deps, stop } = publisher({
      publish: async ({ round }) => {
        return round === 1 ? { kind: 'refused', why: 'NEVER' } : { kind: 'published', where: 'here' }
      },
    })
    const running = publishRounds(deps, stop.signal)
    store.rounds = 1
    await clock.sleep(HOUR)
    store.rounds = 2
    await clock.sleep(HOUR)
    stop.abort()
    await running
    expect([...store.kept.values()].map(({ state, said }) => [state, said])).toEqual([
      ['refused', 'NEVER'],
      ['published', 'here'],
    ])
    expect(lines).toContain('round refused for good')
  })

  test('a ledger that never answers is left, and asked again', async () => {
    let asked = 0
    let aborted = 0
    const { clock, deps, stop } = publisher(
      {
        publish: (_, signal) => {
          asked++
          signal.addEventListener('abort', () => aborted++)
          return new Promise(() => {})
        },
      },
      (made) => {
        made.rounds = 1
      },
    )
    const running = publishRounds(deps, stop.signal)
    await clock.sleep(HOUR)
    stop.abort()
    await running
    expect(asked).toBeGreaterThan(2)
    expect(aborted).toBe(asked)
  })

  test('attack 171: killed before or after any step, every round is published once, as it was first signed', async () => {
    const moments = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.boolean()), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(moments, async (kills) => {
        const published = new Map<number, string>()
        const clock = new VirtualClock()
        const store = new RoundStore(clock)
        const ledger: Pick<Ledger, 'publish'> = {
          publish: async ({ round, root }) => {
            const before = published.get(round)
            if (before !== undefined && before !== root) return { kind: 'refused', why: 'another' }
            published.set(round, root)
            return before === undefined ? { kind: 'pending', why: 'sent' } : { kind: 'published', where: 'here' }
          },
        }
        for (const [number, kill] of [...kills, null].entries()) {
          store.rounds = number + 1
          store.standing = store.standing.map((standing) => ({ ...standing, score: number }))
          await oneLife({ clock, store, ledger }, kill)
        }
        const rounds = [...store.kept.values()]
        expect(rounds.map(({ state }) => state)).toEqual(rounds.map(() => 'published'))
        for (const { record } of rounds) expect(published.get(record.round)).toBe(record.root)
        expect(store.kept.has(kills.length + 1)).toBe(true)
      }),
      { numRuns: 15 },
    )
  })
})

interface World {
  readonly clock: VirtualClock
  readonly store: RoundStore
  readonly ledger: Pick<Ledger, 'publish'>
}

/** A process that ends at a call to its store or ledger, before it or after it; or one that lives for two hours. */
async function oneLife({ clock, store, ledger }: World, kill: readonly [number, boolean] | null): Promise<void> {
  const stop = new AbortController()
  let calls = 0
  const mortal = <T extends object>(target: T): T =>
    new Proxy(target, {
      get:
        (of, name) =>
        async (...given: unknown[]) => {
          const isLast = kill !== null && calls++ === kill[0]
          const work = (of as Record<PropertyKey, (...args: unknown[]) => Promise<unknown>>)[name]!
          if (isLast && kill[1]) await work.apply(of, given)
          if (isLast || stop.signal.aborted) {
            stop.abort()
            return await new Promise(() => {})
          }
          return await work.apply(of, given)
        },
    })
  const deps = { clock, log, metrics, signer, decay, store: mortal(store.asStore), ledger: mortal(ledger) as Ledger }
  void publishRounds(deps, stop.signal)
  await clock.sleep(2 * HOUR)
  stop.abort()
}
