import { BoxServer } from '../../src/apps/node/boxServer.ts'
import type { CheckDeps } from '../../src/apps/node/boxTrial.ts'
import type { Signer } from '../../src/core/bytes/ed25519.ts'
import { taggedHash } from '../../src/core/bytes/sha256.ts'
import { u32be } from '../../src/core/chain/bigEndian.ts'
import { type ChainState, etaOf } from '../../src/core/chain/chainState.ts'
import { devnetGenesis, devnetKeys } from '../../src/core/chain/devnetGenesis.ts'
import { genesisState } from '../../src/core/chain/genesisState.ts'
import { boxAlpha, isBoxDrawn } from '../../src/core/chain/transactions/boxes.ts'
import { productChecks } from '../../src/core/work/drilled/productChecks.ts'
import { nativeSigner } from '../../src/drivers/system/nativeSigner.ts'
import type { ChainNode } from '../../src/ports/chainNode.ts'
import { seededRandomness } from './seededRandomness.ts'
import { testSigner } from './testSigner.ts'
import { VirtualClock } from './virtualClock.ts'
import { library } from './vrfLibrary.ts'

/** What stands for a chunk where nobody cares what is multiplied. */
export const standInChunk = (seed: Uint8Array, _k: number, index: number): Uint8Array =>
  taggedHash('test/chunk', seed, u32be(index))

export type Execute = (seed: Uint8Array, k: number, depth: number) => Promise<readonly Uint8Array[]>
export type Answer = (data: Uint8Array) => Promise<Uint8Array | null>

/** A validator of a new devnet and boxes that it may have drawn, on a virtual clock. */
export class BoxWorld {
  readonly clock = new VirtualClock()
  readonly state: ChainState
  readonly keys = devnetKeys(0, library.vrf, nativeSigner)
  readonly beta: Uint8Array
  readonly vrfProof: Uint8Array
  slot = 3

  constructor() {
    this.state = genesisState(devnetGenesis({ timeMs: 0n, authorities: 1 }, library.vrf))
    const alpha = boxAlpha(etaOf(this.state.view, 0n))
    this.beta = this.keys.vrfKey.evaluate(alpha)
    this.vrfProof = this.keys.vrfKey.prove(alpha)
  }

  /** So many boxes that were drawn, or were not. */
  boxes(count: number, isDrawn = true): Signer[] {
    const found: Signer[] = []
    for (let byte = 1; found.length < count; byte++)
      if (isBoxDrawn(this.beta, testSigner(byte).publicKey) === isDrawn) found.push(testSigner(byte))
    return found
  }

  /** A box that answers by the rules, but for what its machine makes. */
  server(box: Signer, execute: Execute, peer = 'peer'): BoxServer {
    const node = { headState: async () => this.state, status: () => ({ slot: this.slot }) } as ChainNode
    const { checkSignature, vrf, isAccountKey } = library
    const checks = {
      ...{ signature: checkSignature, vrf: vrf.verify, key: isAccountKey },
      ...productChecks(standInChunk),
    }
    return new BoxServer({ node, checks, clock: this.clock, box, peer, execute })
  }

  /** A machine that takes so long for each chunk. */
  machine(chunkMs: number, chunk = standInChunk): Execute {
    return async (seed, k, depth) => {
      await this.clock.sleep(chunkMs * 2 ** depth)
      return Array.from({ length: 2 ** depth }, (_, index) => chunk(seed, k, index))
    }
  }

  deps(request: CheckDeps['network']['request']): CheckDeps {
    return {
      ...{ network: { request }, clock: this.clock, randomness: seededRandomness(3), keys: this.keys },
      ...{ genesisHash: this.state.genesisHash, checkSignature: library.checkSignature },
      chunkAt: async (...asked) => standInChunk(...asked),
    }
  }
}
