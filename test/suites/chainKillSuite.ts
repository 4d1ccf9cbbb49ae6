import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openChainStore } from '../../src/drivers/chainStore/openChainStore.ts'
import type { ChainStore } from '../../src/ports/chainStore.ts'
import { bytesOf, GENESIS } from '../support/chainRows.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

/** A process that writes blocks is killed in the middle of it, again and again, on one folder. */
export function chainKillSuite(kills: number, mostWrites: number): void {
  test(`kill -9 at ${kills} random moments: the chain opens as it is, and all that was confirmed is there`, async () => {
    const folder = temporaryFolder()
    let reached = 0
    for (let kill = 0; kill < kills; kill++) {
      const confirmed = await writeUntilKilled(folder, 1 + Math.floor(Math.random() * mostWrites))
      const store = await openChainStore(folder, GENESIS)
      try {
        expect(store.head.height).toBeGreaterThanOrEqual(confirmed)
        expect(store.head.height).toBeGreaterThan(reached)
        reached = store.head.height
        await expectWhole(store)
      } finally {
        await store.close()
      }
    }
  })
}

/** Killed while a write is under way: right after so many were confirmed, and a random moment later. */
async function writeUntilKilled(folder: string, writes: number): Promise<number> {
  const script = fileURLToPath(new URL('../support/chainChild.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, folder, GENESIS], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  let [confirmed, seen] = [0, 0]
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'ready') continue
    confirmed = Number(line)
    if (++seen === writes) setTimeout(() => child.kill('SIGKILL'), Math.random() * 20)
  }
  const [code, signal] = await ended
  expect([code, signal]).toEqual([null, 'SIGKILL'])
  return confirmed
}

async function expectWhole(store: ChainStore): Promise<void> {
  let id = store.head.id
  const places = new Set((await store.above(0)).map((facts) => facts.id))
  for (let height = store.head.height; height > 0; height--) {
    const facts = (await store.facts(id))!
    expect([facts.height, await store.idAt(height), places.has(id)]).toEqual([height, id, true])
    if (height === store.final.height) expect(store.final.id).toBe(id)
    const bytes = (await store.block(id))!
    expect(bytes.length).toBe(1_000 + ((height * 7_919) % 200_000))
    expect(Buffer.compare(bytes, bytesOf(id, bytes.length))).toBe(0)
    id = facts.parent
  }
  expect([id, await store.idAt(store.head.height + 1)]).toEqual([GENESIS, null])
}
