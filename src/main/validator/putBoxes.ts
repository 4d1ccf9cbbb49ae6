import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { fault } from '../faults.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

/** The boxes of validator.yaml. Which of them are allocated is told over the API and survives a restart. */
export async function putBoxes(
  store: Pick<Store, 'putBox' | 'removeBox'>,
  { boxes }: Pick<ValidatorConfig, 'boxes'>,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  for (const box of boxes) {
    const put = () => store.putBox({ ...box, allocated: null })
    for (let other = await put(); other !== null; other = await put()) {
      if (boxes.some(({ id }) => id === other)) throw fault('ADDRESS_TWICE', { one: other, other: box.id })
      // The file is the operator's word: what it calls by a new name has no other.
      await store.removeBox(other)
      log.warn('box removed: validator.yaml gives its address to another', { box: other, now: box.id })
    }
  }
}
