import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

type ReadText = (path: string) => string | null

/** Cores this process may keep busy: those it may run on, and no more than the container's share of time. */
export const usableCores = (): number => coresWithin(availableParallelism(), readText)

/** Node counts the cores a process may run on; a container is often given all of them, for a part of the time. */
export function coresWithin(cores: number, read: ReadText): number {
  const groups = (read('/proc/self/cgroup') ?? '').split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (path === undefined) return []
    if (controllers === '') return above(path).map((group) => timeOf(read(`/sys/fs/cgroup${group}/cpu.max`)))
    if (!controllers!.split(',').includes('cpu')) return []
    return above(path).map((group) => {
      const from = `/sys/fs/cgroup/cpu${group}/cpu.cfs_`
      return timeOf(`${read(`${from}quota_us`)?.trim()} ${read(`${from}period_us`)}`)
    })
  })
  return Math.max(1, Math.floor(Math.min(cores, ...groups)))
}

/** The group and those around it; inside a container only the last, the root, may be seen. */
const above = (path: string): string[] => {
  const names = path.split('/').filter((name) => name !== '' && name !== '..')
  return Array.from({ length: names.length + 1 }, (_, i) =>
    names
      .slice(0, names.length - i)
      .map((name) => `/${name}`)
      .join(''),
  )
}

/** Microseconds of processor time for each so many of the clock; anything else is no limit. */
function timeOf(text: string | null): number {
  const [, quota, period] = /^(\d+) (\d+)\n?$/.exec(text ?? '') ?? []
  return Number(quota) > 0 && Number(period) > 0 ? Number(quota) / Number(period) : Number.POSITIVE_INFINITY
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
