import type { NvidiaEvidence } from '../../../src/core/attest/nvidiaDevice.ts'
import { ReferenceDevice } from '../openReferenceDevice.ts'
import type { TestDevice } from './testNvidia.ts'
import { DRIVER_GOLDEN, measuring, VBIOS_GOLDEN } from './testRim.ts'

type Sign = (nonce: Uint8Array) => NvidiaEvidence | null

/** A card that has its vendor's chip sign what it is asked. */
export class AttestingDevice extends ReferenceDevice {
  readonly #sign: Sign
  constructor(sign: Sign) {
    super({ facts: { class: 'gpu', backEnd: 'cuda', name: 'Card', details: { attests: true } } })
    this.#sign = sign
  }
  async attest(nonce: Uint8Array): Promise<NvidiaEvidence | null> {
    return this.#sign(nonce)
  }
}

const measurements = measuring(DRIVER_GOLDEN, VBIOS_GOLDEN)

/** A chip that runs what was released. */
export const honestChip =
  (chip: TestDevice): Sign =>
  (nonce) =>
    chip.evidence(nonce, { measurements })
