import { beforeEach, describe, expect, test } from 'vitest'
import { type Answer, BoxWorld } from '../../../test/support/boxWorld.ts'
import { SILENT_LOG } from '../../../test/support/silentLog.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { u32be } from '../../core/chain/bigEndian.ts'
import { type ChainState, findAccount, located } from '../../core/chain/chainState.ts'
import { CHAIN_PRESETS } from '../../core/chain/params.ts'
import { compareBytes } from '../../core/chain/snapshots.ts'
import { decodeTx, type Tx } from '../../core/chain/ssz.ts'
import { BoxReportType, BoxType, ReportCommitType } from '../../core/chain/stateType.ts'
import { boxDraw, isBoxDrawn, reportCommitment } from '../../core/chain/transactions/boxes.ts'
import { ReportType, RevealType } from '../../core/chain/transactions/payloads.ts'
import { decodeBoxes, decodeBoxQuestion, encodeBoxes, NO_ANSWER } from '../../core/chain/wire/boxQuestions.ts'
import type { ChainEvent, ChainNode } from '../../ports/chainNode.ts'
import { BoxJudge } from './boxJudge.ts'

let world: BoxWorld
beforeEach(() => {
  world = new BoxWorld()
})

/** For an account, with what the validator has said of them. */
function register(keys: readonly Uint8Array[], ...scores: readonly bigint[]): void {
  const { view, boxPlaces } = world.state
  for (const key of keys) {
    boxPlaces.note(key, view.boxes.length)
    const reports = scores.map((score) => ({ ...BoxReportType.defaultValue(), score }))
    view.boxes.push(BoxType.toViewDU({ ...BoxType.defaultValue(), key, account: 1, reports }))
  }
  view.commit()
}

/** A node whose slot the test sets, and that tells of a block when it is told to. */
function nodeOf(state: ChainState, submit: (tx: Uint8Array) => void = () => {}) {
  const at = { slot: 3, tell: (_: ChainEvent) => {} }
  const node = {
    headState: async () => state,
    status: () => ({ slot: at.slot, isSyncing: false }),
    nextNonce: async () => 0n,
    isWaiting: () => false,
    submit: async (tx: Uint8Array) => {
      submit(tx)
      return { kind: 'taken', id: '' }
    },
    subscribe: (listener: typeof at.tell) => {
      at.tell = listener
      return () => {}
    },
  } as unknown as ChainNode
  return { node, at, hearOfBlock: () => at.tell({ kind: 'head' } as ChainEvent) }
}

const forgetful = { keep: () => {}, unshown: { read: () => new Uint8Array(0), write: () => {} } }

/** What a validator says of each box that it checks in an epoch. */
async function judged(peers: Readonly<Record<string, Answer>>): Promise<ReadonlyMap<string, bigint>> {
  const said = new Map<string, bigint>()
  const wrong: string[] = []
  await new Promise<void>((resolve) => {
    const { node, hearOfBlock } = nodeOf(world.state, () => resolve())
    const info = (_: string, fields?: object) => {
      const { box, capacity } = fields as { box: string; capacity: string }
      said.set(box, BigInt(capacity))
    }
    const fail = (message: string) => {
      wrong.push(message)
      resolve()
    }
    const network = { peers: () => Object.keys(peers), request: (peer: string, data: Uint8Array) => peers[peer]!(data) }
    const log = { ...SILENT_LOG, info, warn: fail, error: fail }
    new BoxJudge({ ...world.deps(network.request), node, network, log, ...forgetful })
    hearOfBlock()
  })
  expect(wrong).toEqual([])
  return said
}

/** In which of these slots a validator begins, in epochs of an hour. */
async function begins(slots: readonly number[]): Promise<number | null> {
  const state = { ...world.state, params: CHAIN_PRESETS.mainnet }
  const { node, at, hearOfBlock } = nodeOf(state)
  let begun: number | null = null
  const request = async () => {
    begun ??= at.slot
    return null
  }
  new BoxJudge({
    ...world.deps(request),
    node,
    network: { peers: () => ['peer'], request },
    log: SILENT_LOG,
    ...forgetful,
  })
  for (const slot of slots) {
    at.slot = slot
    hearOfBlock()
    await world.clock.sleep(2 * Number(state.params.slotMs))
  }
  return begun
}

const draw = (box: Uint8Array) => boxDraw(world.beta, box)
const isBoxes = (data: Uint8Array) => decodeBoxQuestion(data)?.kind === 'boxes'
const serverAt = (box: Signer, peer: string): Answer => {
  const server = world.server(box, world.machine(20), peer)
  return (data) => server.answer(data)
}

describe('a validator', () => {
  test('attack 309: asks a box where the box says that it is, whoever else names it, or stands between', async () => {
    const [box] = world.boxes(1)
    register([box!.publicKey])
    const name = toHex(box!.publicKey)
    const alone = (await judged({ home: serverAt(box!, 'home') })).get(name)
    expect(alone).toBeGreaterThan(0n)
    const home = serverAt(box!, 'home')
    const naming: Answer = async (data) =>
      isBoxes(data) ? encodeBoxes([{ box: box!.publicKey, sig: new Uint8Array(64) }]) : NO_ANSWER
    const relaying: Answer = async (data) => (isBoxes(data) ? await home(data) : NO_ANSWER)
    const own: Answer = async (data) => {
      const [here] = decodeBoxes((await home(data))!) ?? []
      return isBoxes(data) ? encodeBoxes([{ ...here!, sig: world.boxes(2)[1]!.sign(here!.sig) }]) : NO_ANSWER
    }
    const silent: Answer = () => new Promise(() => {})
    const among = await judged({ first: naming, home, naming, relaying, own, silent })
    expect(among.get(name)).toBe(alone)
  })

  test('attack 311: checks newcomers as often as others where more are drawn than a report has room for', async () => {
    const keys = Array.from({ length: 2_600 }, (_, i) => sha256(u32be(i)))
    register(keys)
    const drawn = keys.map(toHex).filter((_, i) => isBoxDrawn(world.beta, keys[i]!))
    const said = await judged({})
    expect([drawn.length > 600, said.size]).toEqual([true, 512])
    const part = (names: readonly string[]) => names.filter((name) => said.has(name)).length / names.length
    const middle = Math.floor(drawn.length / 2)
    expect(part(drawn.slice(middle))).toBeGreaterThan(0.7)
    expect(part(drawn.slice(0, middle))).toBeLessThan(0.95)
  })

  test('attack 328: boxes that are only registered crowd out none that is there, and none that has a score to lose', async () => {
    const names = Array.from({ length: 4_000 }, (_, i) => sha256(u32be(i)))
    const byDraw = names.filter((key) => isBoxDrawn(world.beta, key)).sort((a, b) => compareBytes(draw(a), draw(b)))
    const [box] = world.boxes(1)
    const first = byDraw.filter((key) => compareBytes(draw(key), draw(box!.publicKey)) < 0)
    const away = byDraw.at(-1)!
    expect(first.length).toBeGreaterThan(512)
    register(byDraw.slice(0, 40))
    register(byDraw.slice(40, -1), 1n)
    register([box!.publicKey])
    register([away], 1_000n)
    const said = await judged({ home: serverAt(box!, 'home') })
    expect(said.size).toBe(512)
    expect(said.get(toHex(box!.publicKey))).toBeGreaterThan(0n)
    expect(said.get(toHex(away))).toBe(0n)
  })

  test('attack 330: begins at any time that leaves enough for its report, so that no part of an hour is free', async () => {
    const slots = [150, 300, 450]
    const begun: (number | null)[] = []
    for (let i = 0; i < 24; i++) {
      world.state.view.etas.set(0, sha256(u32be(i)))
      begun.push(await begins(slots))
    }
    expect(slots.map((slot) => begun.filter((at) => at === slot).length > 3)).toEqual([true, true, true])
    expect(begun).not.toContain(null)
  })

  test('attack 365: shows what it committed to after a restart, and checks no box twice for it', async () => {
    const [box] = world.boxes(1)
    register([box!.publicKey])
    const kept: Uint8Array[] = []
    const unshown = {
      read: () => kept.at(-1) ?? new Uint8Array(0),
      write: (bytes: Uint8Array) => void kept.push(bytes),
    }
    const request = async () => null
    /** What is sent first after a start in this slot. */
    const startIn = async (slot: number) => {
      const sent: Tx[] = []
      const { node, at, hearOfBlock } = nodeOf(world.state, (tx) => void sent.push(decodeTx(tx)!))
      at.slot = slot
      const judge = new BoxJudge({
        ...{ ...world.deps(request), node, network: { peers: () => [], request }, log: SILENT_LOG },
        ...{ keep: () => {}, unshown },
      })
      hearOfBlock()
      await world.clock.sleep(2_000)
      judge.stop()
      return sent.map(({ kind, payload }) => ({ kind, payload }))
    }
    const [report] = await startIn(3)
    const { commitment } = ReportType.deserialize(report!.payload)
    const { view } = world.state
    const place = findAccount(located(world.state), world.keys.signer.publicKey)
    view.reports.push(ReportCommitType.toViewDU({ validator: place, epoch: 0n, commitment, revealed: 0 }))
    view.commit()
    expect(await startIn(4)).toEqual([])
    const [reveal] = await startIn(10)
    expect(reveal?.kind).toBe(7)
    expect(reportCommitment(world.keys.signer.publicKey, RevealType.deserialize(reveal!.payload))).toEqual(commitment)
  })

  test('attack 331: that is drawn for no box reports that, and is paid as others are', async () => {
    const [box] = world.boxes(1, false)
    register([box!.publicKey])
    expect((await judged({})).size).toBe(0)
  })
})
