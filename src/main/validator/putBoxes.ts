import { randomUUID } from 'node:crypto'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { fault } from '../faults.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

type Box = ValidatorConfig['boxes'][number]

/**
 * The boxes of validator.yaml. Which of them are allocated is told over the API and survives a restart. A box whose address
 * another is to have moves first; of those that exchange theirs in a circle one moves to where nothing is, and on from there.
 */
export async function putBoxes(
  store: Pick<Store, 'putBox' | 'removeBox'>,
  { boxes }: Pick<ValidatorConfig, 'boxes'>,
  log: Pick<Log, 'warn'>,
): Promise<void> {
  const [begun, done] = [new Set<string>(), new Set<string>()]
  const put = async (box: Box): Promise<void> => {
    begun.add(box.id)
    const ask = () => store.putBox({ ...box, allocated: null })
    for (let other = await ask(); other !== null; other = await ask()) {
      if (done.has(other)) throw fault('ADDRESS_TWICE', { one: other, other: box.id })
      const named = boxes.find(({ id }) => id === other)
      if (!named) {
        // The file is the operator's word: what it calls by a new name has no other.
        await store.removeBox(other)
        log.warn('box removed: validator.yaml gives its address to another', { box: other, now: box.id })
      } else if (begun.has(other))
        await store.putBox({ ...named, address: `ssh://${randomUUID()}.invalid:22`, allocated: null })
      else await put(named)
    }
    done.add(box.id)
  }
  for (const box of boxes) if (!done.has(box.id)) await put(box)
}
