import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Store } from '../../src/ports/store.ts'
import { startFleetProcess } from '../support/fleetProcess.ts'
import { textOf } from '../support/textOf.ts'

export interface KillTarget {
  /** A fresh empty store. */
  make(): Promise<{ readonly address: string; open(): Promise<Store>; end(): Promise<void> }>
}

const RUN_MS = 60
const AT_ONCE = 4
const LONGEST_LIFE_MS = 400
/** More than one life can do, so that every kill hits a round that is under way. */
const BOXES_PER_LIFE = Math.ceil((LONGEST_LIFE_MS / RUN_MS) * AT_ONCE) + AT_ONCE

/** A validator is killed at random moments of a round and started again until the round is done. */
export function killSuite(name: string, kills: number, target: KillTarget): void {
  const promise = `${name}: kill -9 at ${kills} random moments of a round loses nothing and does nothing twice`
  test(promise, { timeout: 60_000 + 10_000 * kills }, async () => {
    const { address, open, end } = await target.make()
    const boxes = BOXES_PER_LIFE * kills
    const ids = Array.from({ length: boxes }, (_, i) => `box-${i}`)
    for (let kill = 0; kill < kills; kill++) {
      const killed = startFleetProcess(address, `v${kill}`, RUN_MS, AT_ONCE, boxes)
      await killed.said('ready')
      await delay(Math.random() * LONGEST_LIFE_MS)
      await killed.kill('SIGKILL')
      expect(killed.hasSaid('round done')).toBe(false)
    }
    const last = startFleetProcess(address, 'last', RUN_MS, AT_ONCE, boxes)
    await last.said('round done')
    expect(await last.ended).toBe(0)
    const store = await open()
    try {
      expect(await store.lastRound()).toMatchObject({ number: 1, jobs: boxes, done: boxes, accepted: boxes })
      expect(await store.queue()).toMatchObject({ waiting: 0, held: 0, done: boxes })
      for (const id of ids) {
        const { items } = await store.history(id, { after: null, limit: 10 })
        expect(items.map(({ outcome }) => outcome)).toEqual(['accepted'])
        expect(await textOf(await store.certificate(items[0]!.runId!))).toBe('{}')
        expect(await store.box(id)).toMatchObject({ verifiedTotal: 1, failuresTotal: 0, lastResult: items[0]!.id })
      }
    } finally {
      await store.close()
      await end()
    }
  })
}
