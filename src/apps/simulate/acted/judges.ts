import type { Signer } from '../../../core/bytes/ed25519.ts'
import { taggedHash } from '../../../core/bytes/sha256.ts'
import { u64be } from '../../../core/chain/bigEndian.ts'
import { etaOf, findBox } from '../../../core/chain/chainState.ts'
import { compareBytes } from '../../../core/chain/snapshots.ts'
import {
  boxAddMessage,
  boxAlpha,
  isBoxDrawn,
  reportCommitment,
  runMessage,
} from '../../../core/chain/transactions/boxes.ts'
import * as payloads from '../../../core/chain/transactions/payloads.ts'
import type { ActedChain } from './actedChain.ts'

const [BOX_ADD, REPORT, REVEAL] = [4, 6, 7]

/** A box and what can be measured of it while it is there. */
export interface ActedBox {
  readonly owner: number
  readonly signer: Signer
  readonly capacity: bigint
}

/** A validator: what it says of a box in an epoch, 0 if it saw nothing, and whether it shows what it committed to. */
export interface Judge {
  readonly account: number
  scoreOf(box: number, epoch: bigint): bigint
  readonly reveals?: boolean
}

/** Boxes and those who check them, by commitment and reveal (§4.5). */
export class Judges {
  readonly boxes: readonly ActedBox[]
  private readonly chain: ActedChain
  private readonly judges: readonly Judge[]
  private readonly reports = new Map<string, ReturnType<typeof payloads.RevealType.defaultValue>>()

  constructor(chain: ActedChain, judges: readonly Judge[], boxes: readonly Omit<ActedBox, 'signer'>[]) {
    this.chain = chain
    this.judges = judges
    this.boxes = boxes.map((box, i) => {
      const signer = chain.crypto.signerFrom(taggedHash('simulate/box', chain.keyOf(box.owner), u64be(BigInt(i))))
      return { ...box, signer }
    })
    for (const { owner, signer } of this.boxes) {
      const boxSig = signer.sign(boxAddMessage(chain.state.genesisHash, signer.publicKey, chain.keyOf(owner)))
      chain.send(owner, BOX_ADD, payloads.BoxAddType.serialize({ box: signer.publicKey, boxSig }))
    }
  }

  /** The score that the chain gives a box. */
  scoreOf(box: number): bigint {
    const { view, boxPlaces } = this.chain.state
    return view.boxes.getReadonly(findBox({ state: view, boxPlaces }, this.boxes[box]!.signer.publicKey)).score
  }

  /** To be called once in an epoch: what was committed to in the last one is shown, and a new commitment made. */
  act(): void {
    const { chain } = this
    const { epoch } = chain.state.view
    for (const judge of this.judges) {
      const last = this.reports.get(`${judge.account}/${epoch - 1n}`)
      if (last !== undefined && judge.reveals !== false)
        chain.send(judge.account, REVEAL, payloads.RevealType.serialize(last))
      const report = this.reportOf(judge, epoch)
      this.reports.set(`${judge.account}/${epoch}`, report)
      this.reports.delete(`${judge.account}/${epoch - 1n}`)
      const commitment = reportCommitment(chain.keyOf(judge.account), report)
      chain.send(judge.account, REPORT, payloads.ReportType.serialize({ epoch, commitment }))
    }
  }

  /** What a validator would say of the boxes that are drawn for it. */
  reportOf(judge: Judge, epoch: bigint) {
    const { vrfKey } = this.chain.accounts[judge.account]!
    const alpha = boxAlpha(etaOf(this.chain.state.view, epoch))
    const beta = vrfKey.evaluate(alpha)
    const entries = this.boxes
      .map((box, i) => ({ box, i }))
      .filter(({ box }) => isBoxDrawn(beta, box.signer.publicKey))
      .sort((a, b) => compareBytes(a.box.signer.publicKey, b.box.signer.publicKey))
      .map(({ box, i }) => this.entryOf(judge, box, judge.scoreOf(i, epoch), epoch))
    return { epoch, salt: taggedHash('simulate/salt', beta), vrfProof: vrfKey.prove(alpha), entries }
  }

  private entryOf({ account }: Judge, { signer, capacity }: ActedBox, score: bigint, epoch: bigint) {
    const blank = { ...payloads.EntryType.defaultValue(), box: signer.publicKey }
    if (score === 0n) return blank
    const message = runMessage(this.chain.state.genesisHash, epoch, this.chain.keyOf(account), blank.certificate)
    return { ...blank, score, capacity, boxSig: signer.sign(message) }
  }
}

/** Always there, and always seen. */
export const honestJudge = (account: number): Judge => ({ account, scoreOf: () => 1_000n })
