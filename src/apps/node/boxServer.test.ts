import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { testEngine } from '../../../test/support/testEngine.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { VirtualClock } from '../../../test/support/virtualClock.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { type ChainState, etaOf } from '../../core/chain/chainState.ts'
import { devnetGenesis, devnetKeys } from '../../core/chain/devnetGenesis.ts'
import { genesisState } from '../../core/chain/genesisState.ts'
import { boxAlpha, isBoxDrawn } from '../../core/chain/transactions/boxes.ts'
import {
  type BoxCheck,
  BUSY,
  checkMessage,
  decodeBoxes,
  decodeBoxQuestion,
  encodeBoxQuestion,
} from '../../core/chain/wire/boxQuestions.ts'
import { type ChunkAt, productChecks } from '../../core/work/drilled/productChecks.ts'
import { productChunk } from '../../core/work/drilled/productTask.ts'
import { openVrf } from '../../drivers/sodium/openVrf.ts'
import { nativeSigner } from '../../drivers/system/nativeSigner.ts'
import type { ChainNode } from '../../ports/chainNode.ts'
import type { VrfLibrary } from '../../ports/vrf.ts'
import { BoxServer } from './boxServer.ts'
import { type CheckDeps, type CheckedBox, checkBox } from './checkBox.ts'

let library: VrfLibrary
let state: ChainState
let chunkAt: ChunkAt
let vrfProof: Uint8Array
let box: ReturnType<typeof testSigner>
let other: ReturnType<typeof testSigner>
const validator = () => devnetKeys(0, library.vrf, nativeSigner)

beforeAll(async () => {
  library = await openVrf()
  const engine = await testEngine()
  const kept = new Map<string, Uint8Array>()
  chunkAt = (seed, k, index) => {
    const name = `${seed.join()}/${index}`
    kept.set(name, kept.get(name) ?? productChunk(engine, seed, k, index))
    return kept.get(name)!
  }
  state = genesisState(devnetGenesis({ timeMs: 0n, authorities: 1 }, library.vrf))
  const { vrfKey } = validator()
  const alpha = boxAlpha(etaOf(state.view, 0n))
  vrfProof = vrfKey.prove(alpha)
  const isDrawn = (byte: number) => isBoxDrawn(vrfKey.evaluate(alpha), testSigner(byte).publicKey)
  const bytes = Array.from({ length: 60 }, (_, i) => 60 + i)
  box = testSigner(bytes.find(isDrawn)!)
  other = testSigner(bytes.find((byte) => !isDrawn(byte))!)
})

let clock: VirtualClock
let executed: number
beforeEach(() => {
  clock = new VirtualClock()
  executed = 0
})

/** A box that answers by the rules, but for what it computes. */
function serverOf(signer = box, chunk: ChunkAt = chunkAt): BoxServer {
  const node = { headState: async () => state, status: () => ({ slot: 3 }) } as ChainNode
  const checks = {
    ...{ signature: library.checkSignature, vrf: library.vrf.verify, key: library.isAccountKey },
    ...productChecks(chunkAt),
  }
  const execute = async (seed: Uint8Array, k: number, depth: number) => {
    executed++
    clock.spend(400_000)
    return Array.from({ length: 2 ** depth }, (_, index) => chunk(seed, k, index))
  }
  return new BoxServer({ node, checks, box: signer, execute })
}

const depsOf = (request: CheckDeps['network']['request']): CheckDeps => ({
  ...{ network: { request }, clock, randomness: seededRandomness(3), keys: validator(), chunkAt },
  ...{ genesisHash: state.genesisHash, checkSignature: library.checkSignature },
})
const checked = (answer: (data: Uint8Array) => Promise<Uint8Array | null>) =>
  checkBox(
    depsOf((_, data) => answer(data)),
    { peer: 'peer', box: box.publicKey, epoch: 0n, vrfProof },
  )

describe('a box that is checked', () => {
  test('shows how fast it is, and signs the record of it', async () => {
    const server = serverOf()
    const shown = (await checked((data) => server.answer(data))) as CheckedBox
    // 4 chunks of 67 million operations in 0.4 s.
    expect(shown.operationsPerSecond / 0.67e9).toBeCloseTo(1, 2)
    expect(shown.certificate).toEqual(sha256(new TextEncoder().encode(shown.record)))
    expect(JSON.parse(shown.record)).toMatchObject({ format: 'touchstone-check-1', epoch: '0', depth: 2 })
    expect(decodeBoxes((await server.answer(encodeBoxQuestion({ kind: 'boxes' })))!)).toEqual([box.publicKey])
  })

  test('that serves another is asked again, and its answer is no word about it', async () => {
    const server = serverOf()
    const busyFor = (times: number) => (data: Uint8Array) =>
      data[0] === 6 && times-- > 0 ? Promise.resolve(BUSY) : server.answer(data)
    expect(await checked(busyFor(3))).toMatchObject({ operationsPerSecond: expect.closeTo(0.67e9, -7) })
    expect(await checked(busyFor(99))).toBe('busy')
  })

  test('attack 197: works for nobody but a validator that the lottery drew for it, and not without end', async () => {
    const { signer } = validator()
    const asked = { validator: signer.publicKey, epoch: 0n, box: box.publicKey, seed: new Uint8Array(32), depth: 2 }
    const signed = (check: Omit<BoxCheck, 'sig' | 'vrfProof'>, by = signer): BoxCheck => ({
      ...{ ...check, vrfProof },
      sig: by.sign(checkMessage(state.genesisHash, check)),
    })
    const stranger = devnetKeys(5, library.vrf, nativeSigner).signer
    const server = serverOf()
    const ask = (check: BoxCheck, to = server) => to.answer(encodeBoxQuestion({ kind: 'check', ...check }))
    const refused: BoxCheck[] = [
      signed(asked, stranger),
      signed({ ...asked, validator: stranger.publicKey }, stranger),
      signed({ ...asked, validator: other.publicKey }, other),
      signed({ ...asked, epoch: 1n }),
      signed({ ...asked, depth: 11 }),
      { ...signed(asked), depth: 4 },
      { ...signed(asked), vrfProof: new Uint8Array(80) },
      { ...signed(asked), vrfProof: vrfProof.map((byte, i) => (i === 40 ? byte ^ 1 : byte)) },
    ]
    for (const check of refused) expect(await ask(check)).toHaveLength(0)
    expect(await ask(signed({ ...asked, box: other.publicKey }), serverOf(other))).toHaveLength(0)
    expect(executed).toBe(0)
    const witness = { kind: 'witness', box: box.publicKey, epoch: 0n, certificate: new Uint8Array(32) } as const
    const sign = (by: Uint8Array) => server.answer(encodeBoxQuestion({ ...witness, validator: by }))
    expect(await sign(signer.publicKey)).toHaveLength(0)
    for (let times = 0; times < 10; times++) await ask(signed(asked))
    expect(executed).toBe(8)
    expect(await sign(signer.publicKey)).toHaveLength(64)
    expect(await sign(stranger.publicKey)).toHaveLength(0)
    for (const wrong of [[], [9], [5, 0], [6, 1, 2], [7], [8, ...asked.seed]])
      expect(await server.answer(Uint8Array.from(wrong))).toBeNull()
    expect(decodeBoxQuestion(encodeBoxQuestion({ kind: 'check', ...signed(asked) }))).toMatchObject({ depth: 2 })
  })
})

describe('attack 198: a box shows nothing', () => {
  const wrongAt =
    (place: number): ChunkAt =>
    (seed, k, index) =>
      index === place ? seed : chunkAt(seed, k, index)

  test('that computed less than it says, whichever chunk it left out', async () => {
    for (const place of [0, 1, 2, 3]) {
      const server = serverOf(box, wrongAt(place))
      // Eight draws of four: the one that was left out is among them in this run.
      expect([place, await checked((data) => server.answer(data))]).toEqual([place, null])
    }
  })

  test('that opens what it did not commit to, is another one, says nothing or nonsense', async () => {
    const [honest, liar] = [serverOf(), serverOf(box, wrongAt(1))]
    // A root over nothing, and the right chunks afterwards.
    const swapped = async (data: Uint8Array) => {
      const answer = await honest.answer(data)
      return data[0] === 6 ? await liar.answer(data) : answer
    }
    expect(await checked(swapped)).toBeNull()
    const relay = async (data: Uint8Array) => {
      const answer = await honest.answer(data)
      return data[0] === 8 ? other.sign(answer!) : answer
    }
    expect(await checked(relay)).toBeNull()
    expect(await checked(async () => null)).toBeNull()
    expect(await checked(async () => new Uint8Array(0))).toBeNull()
    expect(await checked(async () => new Uint8Array(32))).toBeNull()
    expect(await checked(async (data) => (data[0] === 6 ? new Uint8Array(32) : new Uint8Array(5_000)))).toBeNull()
  })
})
