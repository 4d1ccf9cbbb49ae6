import { beforeEach, describe, expect, test, vi } from 'vitest'
import { type Answer, BoxWorld, type Execute, standInChunk } from '../../../test/support/boxWorld.ts'
import { library } from '../../../test/support/vrfLibrary.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { devnetKeys } from '../../core/chain/devnetGenesis.ts'
import {
  type BoxCheck,
  boxAtMessage,
  checkMessage,
  decodeBoxes,
  decodeBoxQuestion,
  encodeBoxQuestion,
  NO_ANSWER,
} from '../../core/chain/wire/boxQuestions.ts'
import type { ChunkAt } from '../../core/work/drilled/productChecks.ts'
import { nativeSigner } from '../../drivers/system/nativeSigner.ts'
import { checkBoxes } from './checkBoxes.ts'

let world: BoxWorld
let box: Signer
let other: Signer
beforeEach(() => {
  world = new BoxWorld()
  box = world.boxes(1)[0]!
  other = world.boxes(1, false)[0]!
})

const ROUND = 7
const OPEN = 8
const WITNESS = 9
const CHUNK_MS = 10
const SESSION = new Uint8Array(32).fill(7)

const checked = async (answer: Answer) => {
  const order = { peer: 'peer', box: box.publicKey, epoch: 0n, vrfProof: world.vrfProof }
  const deps = world.deps((_, data) => answer(data))
  return (await checkBoxes(deps, [order]))[0]!
}

describe('a box that is checked', () => {
  test('shows how fast it is, and signs the record of it', async () => {
    const server = world.server(box, world.machine(CHUNK_MS))
    const shown = (await checked((data) => server.answer(data)))!
    // 100 chunks of 67 million operations a second, in rounds of 8: 12 of them.
    expect(shown.operationsPerSecond / 67.1e6).toBeCloseTo(96, 0)
    expect(shown.certificate).toEqual(sha256(new TextEncoder().encode(shown.record)))
    const record = JSON.parse(shown.record)
    expect(record).toMatchObject({ format: 'touchstone-check-2', epoch: '0', depth: 3, windowMs: 1_000 })
    expect([record.rounds.length, record.opened.length]).toEqual([12, 8])
    const told = decodeBoxes((await server.answer(encodeBoxQuestion({ kind: 'boxes' })))!)!
    expect(told.map((here) => here.box)).toEqual([box.publicKey])
    const message = boxAtMessage(world.state.genesisHash, 0n, box.publicKey, 'peer')
    expect(library.checkSignature(told[0]!.sig, message, box.publicKey)).toBe(true)
  })

  test('attack 197: works for nobody but a validator that the lottery drew for it, and not without end', async () => {
    const { signer } = world.keys
    const { vrfProof, state } = world
    let executed = 0
    const slow: Execute = async (...task) => {
      executed++
      return await world.machine(500)(...task)
    }
    const session: Uint8Array = new Uint8Array(32).fill(7)
    const asked = { validator: signer.publicKey, epoch: 0n, box: box.publicKey, session }
    const signed = (check: Omit<BoxCheck, 'sig' | 'vrfProof'>, by = signer): BoxCheck => ({
      ...{ ...check, vrfProof },
      sig: by.sign(checkMessage(state.genesisHash, check)),
    })
    const stranger = devnetKeys(5, library.vrf, nativeSigner).signer
    const server = world.server(box, slow)
    const ask = (check: BoxCheck, to = server) => to.answer(encodeBoxQuestion({ kind: 'check', ...check }))
    const round = (depth: number, by = session) =>
      server.answer(
        encodeBoxQuestion({ kind: 'round', box: box.publicKey, session: by, seed: new Uint8Array(32), depth }),
      )
    const sign = (by = session) =>
      server.answer(
        encodeBoxQuestion({ kind: 'witness', box: box.publicKey, session: by, certificate: new Uint8Array(32) }),
      )
    const refused: BoxCheck[] = [
      signed(asked, stranger),
      signed({ ...asked, validator: stranger.publicKey }, stranger),
      signed({ ...asked, validator: other.publicKey }, other),
      signed({ ...asked, epoch: 1n }),
      { ...signed(asked), session: new Uint8Array(32) },
      { ...signed(asked), vrfProof: new Uint8Array(80) },
      { ...signed(asked), vrfProof: vrfProof.map((byte, i) => (i === 40 ? byte ^ 1 : byte)) },
    ]
    for (const check of refused) expect(await ask(check)).toHaveLength(0)
    expect(await ask(signed({ ...asked, box: other.publicKey }), world.server(other, slow))).toHaveLength(0)
    expect([await round(0), await sign()]).toEqual([NO_ANSWER, NO_ANSWER])
    expect(await ask(signed(asked))).toHaveLength(1)
    expect([await round(11), await round(0, other.publicKey), await sign(other.publicKey)]).toEqual(
      Array(3).fill(NO_ANSWER),
    )
    expect(executed).toBe(0)
    // Three at once, and eight seconds in all, however often it begins anew.
    expect((await Promise.all([0, 0, 0, 0, 0].map((depth) => round(depth)))).map((root) => root!.length)).toEqual([
      ...[32, 32, 32, 0, 0],
    ])
    for (let times = 0; times < 20; times++) {
      await ask(signed(asked))
      await round(0)
    }
    expect(executed).toBe(16)
    expect(await sign()).toHaveLength(64)
    for (const wrong of [[], [10], [5, 0], [6, 1, 2], [7], [8], [9, ...session]])
      expect(await server.answer(Uint8Array.from(wrong))).toBeNull()
    expect(decodeBoxQuestion(encodeBoxQuestion({ kind: 'check', ...signed(asked) }))).toMatchObject({ epoch: 0n })
  })

  test('attack 334: works out the end of an epoch once, and for nobody who is not of the chain', async () => {
    const { signer } = world.keys
    const server = world.server(box, world.machine(CHUNK_MS))
    const clones = vi.spyOn(world.state.view, 'clone')
    const ask = async (by: Signer, sign: Signer, epoch = 1n) => {
      const asked = { validator: by.publicKey, epoch, vrfProof: world.vrfProof, box: box.publicKey, session: SESSION }
      const sig = sign.sign(checkMessage(world.state.genesisHash, asked))
      expect(await server.answer(encodeBoxQuestion({ kind: 'check', ...asked, sig }))).toEqual(NO_ANSWER)
    }
    world.slot = 13
    await ask(other, other)
    await ask(signer, other)
    await ask(signer, signer, 2n)
    expect(clones).toHaveBeenCalledTimes(0)
    for (const slot of [13, 14, 14]) {
      world.slot = slot
      await ask(signer, signer)
    }
    expect(clones).toHaveBeenCalledTimes(1)
  })

  test('attack 306: has no second time for a product: nothing that it is asked for comes again', async () => {
    const server = world.server(box, world.machine(CHUNK_MS))
    const under = new Map<string, Promise<Uint8Array | null>>()
    let again = 0
    // It puts the validator off, computes meanwhile, and would have the answer the next time.
    const lying: Answer = async (data) => {
      if (data[0] !== ROUND) return await server.answer(data)
      const known = under.get(data.join())
      if (known !== undefined) again++
      under.set(data.join(), known ?? server.answer(data))
      return known === undefined ? Uint8Array.of(1) : await known
    }
    expect(await checked(lying)).toBeNull()
    expect(again).toBe(0)
  })
})

describe('attack 198: a box shows nothing', () => {
  const wrongAt =
    (place: number): ChunkAt =>
    (seed, k, index) =>
      index === place ? seed : standInChunk(seed, k, index)

  test('that computed less than it says, whichever chunk it left out', async () => {
    // One of two in every round: eight draws find it.
    for (const place of [0, 1]) {
      const server = world.server(box, world.machine(50, wrongAt(place)))
      expect([place, await checked((data) => server.answer(data))]).toEqual([place, null])
    }
  })

  test('that opens what it did not commit to, is another one, says nothing or nonsense', async () => {
    const honest = world.server(box, world.machine(CHUNK_MS))
    const lied = new Uint8Array(32)
    const changed = (tag: number, lie: (answer: Uint8Array) => Uint8Array) =>
      checked(async (data) => {
        const answer = await honest.answer(data)
        return data[0] === tag ? lie(answer!) : answer
      })
    // A root over nothing, and the right chunks afterwards.
    expect(await changed(ROUND, () => lied)).toBeNull()
    expect(await changed(OPEN, () => NO_ANSWER)).toBeNull()
    expect(await changed(OPEN, () => new Uint8Array(5_000))).toBeNull()
    expect(await changed(WITNESS, (answer) => other.sign(answer))).toBeNull()
    expect(await checked(async () => null)).toBeNull()
    expect(await checked(async () => NO_ANSWER)).toBeNull()
    expect(await checked(async () => lied)).toBeNull()
    expect(await checked(() => new Promise(() => {}))).toBeNull()
  })
})
