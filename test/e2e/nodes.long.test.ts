import { readFileSync } from 'node:fs'
import net from 'node:net'
import { expect, test } from 'vitest'
import { askBlocks, askStatus } from '../../src/apps/node/askPeer.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { decodeBlock } from '../../src/core/chain/blockBytes.ts'
import { blockHash } from '../../src/core/chain/signing.ts'
import type { Network } from '../../src/ports/network.ts'
import { TOPICS } from '../../src/ports/network.ts'
import { eventually } from '../support/eventually.ts'
import { NodeNetwork } from '../support/nodeNetwork.ts'

const ALL = [0, 1, 2, 3]
const KILLS = Number(process.env.TOUCHSTONE_KILLS ?? 20)
const FUZZ_SECONDS = Number(process.env.TOUCHSTONE_FUZZ_SECONDS ?? 600)
const below = (limit: number) => Math.floor(Math.random() * limit)

/** The chain of a node from block 1 on, by the hashes of its blocks. */
async function chainOf(visitor: Network): Promise<string[]> {
  const ids: string[] = []
  for (;;) {
    const row = (await askBlocks(visitor, visitor.peers()[0]!, ids.length + 1)) ?? []
    if (row.length === 0) return ids
    ids.push(...row.map((bytes) => toHex(blockHash(decodeBlock(bytes)!.header))))
  }
}

test(`${KILLS} kills and partitions at random, then half of them silent: finality resumes, nothing final is lost`, async () => {
  const network = await NodeNetwork.open(400)
  for (const number of ALL) network.start(number)
  await network.untilFinal(ALL, 3)
  const visitor = await network.visitor()
  await eventually(() => visitor.peers().length > 0)
  for (let round = 0; round < KILLS; round++) {
    await network.pay(visitor, 5 + (round % 8), Math.floor(round / 8))
    const isParting = round % 3 === 2
    if (isParting) network.part(true)
    const victim = network.nodes[below(4)]!
    // Some moment of a slot, some slot.
    await new Promise((resolve) => setTimeout(resolve, below(1_500)))
    await victim.kill()
    await new Promise((resolve) => setTimeout(resolve, below(1_500)))
    network.start(network.nodes.indexOf(victim))
    if (isParting) network.part(false)
    await network.untilFinal(ALL, Math.max(...network.nodes.map(({ final }) => final)) + 2)
    expect(network.conflicts()).toEqual([])
  }
  await Promise.all([network.nodes[2]!.kill(), network.nodes[3]!.kill()])
  const left = network.nodes[1]!
  const [stopped, head] = [left.final, left.head]
  await left.until(() => left.head > head + 8)
  expect(left.final).toBeLessThan(stopped + 6)
  for (const number of [2, 3]) network.start(number)
  await network.untilFinal(ALL, left.head)
  expect(network.conflicts()).toEqual([])

  // Whatever a node ever called final is in the chain that all of them have in the end.
  await eventually(() => visitor.peers().length > 0)
  const chain = await chainOf(visitor)
  for (const { finals } of network.nodes)
    for (const [height, id] of finals) if (height <= chain.length) expect(chain[height - 1]).toBe(id)
  const faults = network.nodes.flatMap(({ told }) => told.filter(({ event }) => event === 'error'))
  expect(faults).toEqual([])
})

const residentMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

test(`attack 24: gossip and questions fuzzed for ${FUZZ_SECONDS} s: the node stays up, its memory flat, the sender cut off`, {
  timeout: (FUZZ_SECONDS + 300) * 1_000,
}, async () => {
  const network = await NodeNetwork.open(400)
  for (const number of ALL) network.start(number)
  await network.untilFinal(ALL, 3)
  const target = network.nodes[0]!
  const heard: Uint8Array[] = []
  const listen = {
    onMessage: async (_: string, data: Uint8Array) => {
      heard.push(data)
      return 'ignore' as const
    },
  }
  const honest = await network.visitor()
  await eventually(() => honest.peers().length > 0)
  const sample: number[] = []
  let [cutOff, sent, lives] = [0, 0, 0]
  const end = Date.now() + FUZZ_SECONDS * 1_000
  while (Date.now() < end) {
    const visitor = await network.visitor(listen)
    lives++
    await eventually(() => visitor.peers().length > 0)
    const peer = visitor.peers()[0]!
    // Who is cut off dials again at once and is connected for a moment: what tells is whether it is still answered.
    for (let i = 0; i < 400; i++, sent++) {
      if (i % 40 === 39 && (await askStatus(visitor, peer)) === null) {
        cutOff++
        break
      }
      const spoiled = spoil(heard[below(Math.max(1, heard.length))] ?? new Uint8Array(50))
      if (i % 2 === 0) await visitor.publish(TOPICS[below(TOPICS.length)]!, spoiled)
      else await visitor.request(peer, spoiled.slice(0, below(80)), { mostBytes: 1 << 23, timeoutMs: 2_000 })
    }
    expect(await askStatus(honest, peer)).not.toBeNull()
    await visitor.close()
    await rawNoise(network.portOf(0))
    heard.splice(0, Math.max(0, heard.length - 200))
    sample.push(residentMb(target.child.pid!))
  }
  const before = Math.max(...network.nodes.map(({ final }) => final))
  await network.untilFinal(ALL, before + 3)
  const third = Math.floor(sample.length / 3)
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length
  const growth = mean(sample.slice(-third)) - mean(sample.slice(third, 2 * third))
  console.log(
    `${sent} messages of ${lives} senders, ${cutOff} cut off; ${Math.round(Math.max(...sample))} MB at most, the last third ${growth.toFixed(1)} MB above the second`,
  )
  expect(cutOff).toBe(lives)
  expect(growth).toBeLessThan(25)
  expect(network.conflicts()).toEqual([])
})

/** Bytes that were right, with some of them changed, cut off, or put in. */
function spoil(bytes: Uint8Array): Uint8Array {
  const out = bytes.slice()
  const kind = below(4)
  for (let i = 0; i < 1 + below(4) && out.length > 0; i++) out[below(out.length)] = below(256)
  if (kind === 0) return out.slice(0, below(out.length + 1))
  if (kind === 1) return Uint8Array.of(...out, ...Array.from({ length: below(100) }, () => below(256)))
  if (kind === 2) return Uint8Array.from({ length: below(2_000) }, () => below(256))
  return out
}

/** A connection that speaks no protocol at all. */
function rawNoise(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () =>
      socket.end(Uint8Array.from({ length: 5_000 }, () => below(256))),
    )
    socket.on('error', () => {})
    socket.on('close', () => resolve())
    socket.resume()
  })
}
