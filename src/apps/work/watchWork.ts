import { boxWords } from '../../core/bytes/boxWords.ts'
import { fault } from '../shared/faults.ts'
import { WorkRejected } from './proverLine.ts'
import { type ExecutedWork, type Watch, type WatchedWork, WorkListener } from './workListener.ts'

/** One work on one prover that nobody draws from: the result is shown to be right in another way. */
export async function watchExecution(watch: Watch, signal: AbortSignal): Promise<ExecutedWork> {
  const listener = new WorkListener(watch, signal)
  await listener.assign()
  await listener.execute()
  return listener.executed
}

/** The same with a proof of the whole product by whoever did it. It must be checked. */
export async function watchProduct(
  watch: Watch,
  signal: AbortSignal,
): Promise<ExecutedWork & { readonly proof: Uint8Array }> {
  const listener = new WorkListener(watch, signal)
  await listener.assign()
  await listener.execute()
  return { ...listener.executed, proof: await listener.proveProduct() }
}

/** One work on one prover, from the assignment to what a receipt holds. */
export async function watchWork(watch: Watch, signal: AbortSignal): Promise<WatchedWork> {
  const listener = new WorkListener(watch, signal)
  await listener.assign()
  await listener.execute()
  return await listener.prove()
}

export interface AttestedWork extends WatchedWork {
  /** What the hardware signed, as a file of its own, the nonce that it is for, and which chips these are. */
  readonly evidence: { readonly bundle: Uint8Array; readonly nonce: Uint8Array; readonly chips: string }
}

/** W11. The same with hardware that signs that it was there; `judge` throws where it does not hold, else names the chips. */
export async function watchAttested(
  watch: Watch,
  judge: (bundle: Uint8Array, nonce: Uint8Array) => Promise<string>,
  signal: AbortSignal,
): Promise<AttestedWork> {
  const listener = new WorkListener(watch, signal)
  const vouched = async (when: 'before' | 'after') => {
    const evidence = await listener.vouch(when)
    if (!evidence) throw fault('CANNOT_ATTEST', { device: boxWords(listener.executed.device) })
    return { ...evidence, chips: await judge(evidence.bundle, evidence.nonce) }
  }
  await listener.assign()
  const before = await vouched('before')
  await listener.execute()
  const evidence = await vouched('after')
  if (evidence.chips !== before.chips) throw new WorkRejected('NOT_ATTESTED', 'OTHER_DEVICES')
  return { ...(await listener.prove()), evidence }
}
