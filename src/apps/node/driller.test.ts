import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { NodeWorld } from '../../../test/support/chainNodes.ts'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { testEngine } from '../../../test/support/testEngine.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { library } from '../../../test/support/vrfLibrary.ts'
import { ascii } from '../../core/bytes/bytes.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import type { ChainState } from '../../core/chain/chainState.ts'
import { devnetKeys } from '../../core/chain/devnetGenesis.ts'
import { genesisHash } from '../../core/chain/genesisType.ts'
import { unitsHeld } from '../../core/chain/ledger.ts'
import { decodeBoxes, encodeBoxes, isBoxQuestion } from '../../core/chain/wire/boxQuestions.ts'
import type { TileEngine } from '../../core/proof/tileEngine.ts'
import { productChecks } from '../../core/work/drilled/productChecks.ts'
import { productChunk } from '../../core/work/drilled/productTask.ts'
import { nativeSigner } from '../../drivers/system/nativeSigner.ts'
import { BoxJudge } from './boxJudge.ts'
import { BoxServer } from './boxServer.ts'
import { CHECK_K } from './checkSizes.ts'
import { Driller } from './driller.ts'
import type { RunningNode } from './node.ts'

let engine: TileEngine
beforeAll(async () => {
  engine = await testEngine()
})
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const DRILLERS = [1, 2, 3]
const PARAMS = { epochSlots: 4n, bootWeight: 16n, tasksPerEpoch: 1n }
const TASK = { work: 64n, depth: 3 }

/** A validator that makes blocks, and a node on which three accounts drill. */
class DrillWorld extends NodeWorld {
  readonly logs: string[] = []
  validator!: RunningNode
  node!: RunningNode
  readonly records = new Map<string, string>()

  constructor() {
    super(1, PARAMS, TASK)
  }

  async open() {
    const checks = { ...this.checks, ...productChecks((...asked) => productChunk(engine, ...asked)) }
    const made = new Map<string, readonly Uint8Array[]>()
    const execute = async (seed: Uint8Array, k: number, depth: number) => {
      // What a machine takes for the product of a check.
      if (k === CHECK_K) await this.clock.sleep(260 * 2 ** depth)
      const name = `${seed.join()}/${depth}`
      const chunks = made.get(name) ?? Array.from({ length: 2 ** depth }, (_, i) => productChunk(engine, seed, k, i))
      made.set(name, chunks)
      return chunks
    }
    const servers: BoxServer[] = []
    const answerBox = async (data: Uint8Array) => {
      if (data[0] === 5) {
        const told = await Promise.all(servers.map((server) => server.answer(data)))
        return encodeBoxes(told.flatMap((answer) => decodeBoxes(answer!)!))
      }
      for (const server of servers) {
        const answer = await server.answer(data)
        if (answer === null || answer.length > 0) return answer
      }
      return new Uint8Array(0)
    }
    expect(isBoxQuestion(Uint8Array.of(5))).toBe(true)
    this.validator = await this.start(0, undefined, { checks })
    this.node = await this.start(1, undefined, { checks, answerBox })
    closing.push(
      () => this.validator.close(),
      () => this.node.close(),
    )
    const note = (level: string) => (message: string, fields?: object) =>
      void this.logs.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`)
    const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
    for (const account of DRILLERS) {
      const keys = devnetKeys(account, library.vrf, nativeSigner)
      const box = testSigner(40 + account)
      const { clock, node } = this
      servers.push(new BoxServer({ node, checks, clock, box, peer: node.others.id, execute }))
      const driller = new Driller({ node: this.node, keys, box, log, execute, fund: async () => {} })
      closing.push(() => driller.stop())
    }
    const judge = new BoxJudge({
      ...{ node: this.validator, network: this.validator.others, log, clock: this.clock },
      ...{ randomness: seededRandomness(9), keys: devnetKeys(0, library.vrf, nativeSigner) },
      ...{ genesisHash: genesisHash(this.genesis), checkSignature: library.checkSignature },
      chunkAt: async (seed, k, index) => productChunk(engine, seed, k, index),
      keep: (name, record) => void this.records.set(name, record),
      unshown: { read: () => new Uint8Array(0), write: () => {} },
    })
    closing.push(() => judge.stop())
    return this
  }
}

describe('accounts that join', () => {
  test('attack 199: are checked, drawn, credited, and win blocks by what they drilled', async () => {
    const world = await new DrillWorld().open()
    const accountOf = ({ view: { accounts } }: ChainState, account: number) => {
      const place = DRILLERS.indexOf(account) + 1
      return {
        total: accounts.drilledTotal.get(place),
        failed: accounts.failed.get(place),
        weight: accounts.drilled.get(place),
      }
    }
    const ownKey = toHex(devnetKeys(1, library.vrf).signer.publicKey)
    const authors = new Set<string>()
    world.node.subscribe((event) => event.kind === 'head' && authors.add(event.block.author))
    for (let passed = 0; !authors.has(ownKey) && passed < 40; passed++) await world.pass(4)
    const state = await world.node.headState()
    expect(authors).toContain(ownKey)
    for (const account of DRILLERS) {
      const { total, failed, weight } = accountOf(state, account)
      expect(total).toBeGreaterThanOrEqual(64n)
      expect([failed, weight > 0n]).toEqual([0n, true])
    }
    expect(state.view.slot - BigInt(world.node.final.slot)).toBeLessThan(8n)
    // What the chain names is what the validator kept.
    const certificates = state.view.boxes
      .getAllReadonlyValues()
      .flatMap(({ reports }) => reports.map(({ certificate }) => toHex(certificate)))
    expect(certificates.length).toBeGreaterThan(0)
    for (const name of certificates) expect(toHex(sha256(ascii(world.records.get(name)!)))).toBe(name)
    expect(world.logs.filter((line) => !line.startsWith('info'))).toEqual([])
    expect(unitsHeld(state.view)).toBe(state.view.supply)
  }, 60_000)
})
