import type { Signer } from '../../core/bytes/ed25519.ts'
import type { ChainState, Refusal } from '../../core/chain/chainState.ts'
import { signTx } from '../../core/chain/signTx.ts'
import type { ChainNode } from '../../ports/chainNode.ts'

/** Things that were sent and are remembered. */
const MOST_SENT = 4_096

/**
 * Sends what an account has to say in an epoch, each thing once for as long as it waits for a block. It ends with the
 * epoch: one that no block takes any more would keep back all that come after it.
 */
export class Sender {
  private readonly node: ChainNode
  private readonly signer: Signer
  private readonly sent = new Map<string, Uint8Array>()

  constructor(node: ChainNode, signer: Signer) {
    this.node = node
    this.signer = signer
  }

  /** Null where it was taken, now or before; else why not. */
  async send(
    { genesisHash, params }: ChainState,
    { kind, payload }: { readonly kind: number; readonly payload: Uint8Array },
    about: string,
  ): Promise<Refusal> {
    const before = this.sent.get(about)
    if (before !== undefined && this.node.isWaiting(before)) return null
    const { feePerByte, epochSlots } = params
    const nonce = await this.node.nextNonce(this.signer.publicKey)
    const slot = BigInt(this.node.status().slot)
    const lastSlot = (slot / epochSlots + 1n) * epochSlots - 1n
    const tx = signTx(this.signer, { kind, nonce, payload, lastSlot }, { genesisHash, feePerByte, epochSlots, slot })
    const result = await this.node.submit(tx)
    if (result.kind === 'refused') return result.problem
    this.sent.delete(about)
    this.sent.set(about, tx)
    if (this.sent.size > MOST_SENT) this.sent.delete(this.sent.keys().next().value!)
    return null
  }
}
