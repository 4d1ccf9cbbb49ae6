import { equalBytes } from '../../core/bytes/bytes.ts'
import { shardsIn } from '../../core/work/shards.ts'
import type { StateMark } from '../../core/work/stateChain.ts'
import type { Tensors, WorkDevice, WorkRun } from '../../ports/workDevice.ts'
import { fault } from '../shared/faults.ts'

/**
 * W3.8. Several devices as one. Of a work whose specification has shards each device makes some, and all of them the next
 * state; any other work is done by the first. The bits are those of one device, whatever their number.
 */
export function devicesAsOne([first, ...others]: readonly [WorkDevice, ...WorkDevice[]]): WorkDevice {
  if (others.length === 0) return first
  return {
    name: `${first.name} and ${others.length} more`,
    async start(work, given) {
      const shards = work.isIndependent ? 0 : shardsIn(work.transition(1))
      const own = await first.start(work, given)
      if (shards < 2) return own
      const helpers: WorkRun[] = []
      for (const device of others.slice(0, shards - 1)) helpers.push(await device.start(work, given))
      return sharedRun([own, ...helpers], shards)
    },
    // Evidence is of one chip: the one that has every state.
    attest: async (nonce) => (await first.attest?.(nonce)) ?? null,
    async close() {
      for (const device of [first, ...others]) await device.close()
    },
  }
}

/** What is kept, traced and opened is the first device's: it has every state. */
function sharedRun(runs: readonly [WorkRun, ...WorkRun[]], shards: number): WorkRun {
  const [first] = runs
  const all = async (step: (run: WorkRun) => Promise<StateMark>): Promise<StateMark> => {
    const [mark, ...marks] = await Promise.all(runs.map(step))
    // Who has another state would make every shard from here on in vain.
    if (!marks.every((other) => isSame(mark!, other))) throw fault('DEVICES_DIFFER', { transition: mark!.transition })
    return mark!
  }
  return {
    async advance(segment) {
      if (segment < 0) return await all((run) => run.advance(segment))
      const made = new Map<string, Uint8Array>()
      await Promise.all(
        runs.map(async (run, device) => {
          for (let shard = device; shard < shards; shard += runs.length)
            for (const [name, bytes] of await run.makeShard(segment, shard)) made.set(name, bytes)
        }),
      )
      return await all((run) => run.joinShards(segment, made))
    },
    makeShard: (segment, shard) => first.makeShard(segment, shard),
    joinShards: (segment, made: Tensors) => all((run) => run.joinShards(segment, made)),
    keep: (segment) => first.keep(segment),
    read: (name) => first.read(name),
    trace: (segment) => first.trace(segment),
    open: (segment, draws) => first.open(segment, draws),
    outputOf: (segment, at, output) => first.outputOf(segment, at, output),
    gather: (name, point) => first.gather(name, point),
  }
}

const isSame = (one: StateMark, other: StateMark): boolean =>
  equalBytes(one.root, other.root) && one.statistics.every((bits, i) => bits === other.statistics[i])
