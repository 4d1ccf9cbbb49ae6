import { availableParallelism } from 'node:os'
import { describe, expect, test } from 'vitest'
import { coresWithin, usableCores } from './usableCores.ts'

const within = (cores: number, files: Readonly<Record<string, string>>) =>
  coresWithin(cores, (path) => files[path] ?? null)

describe('usableCores', () => {
  test.each<[string, number, Readonly<Record<string, string>>]>([
    ['no groups at all', 16, {}],
    ['no limit', 16, { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' }],
    ['a limit in a container', 4, { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '400000 100000\n' }],
    ['half a core more', 2, { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '250000 100000\n' }],
    ['less than a core', 1, { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '20000 100000\n' }],
    ['more than there is', 16, { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '6400000 100000\n' }],
    [
      'the least of the groups around it',
      3,
      {
        '/proc/self/cgroup': '0::/a/b\n',
        '/sys/fs/cgroup/a/b/cpu.max': '800000 100000\n',
        '/sys/fs/cgroup/a/cpu.max': '300000 100000\n',
      },
    ],
    [
      'a limit of the older kind',
      2,
      {
        '/proc/self/cgroup': '5:memory:/x\n4:cpu,cpuacct:/x\n',
        '/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us': '200000\n',
        '/sys/fs/cgroup/cpu/x/cpu.cfs_period_us': '100000\n',
      },
    ],
    [
      'no limit of the older kind',
      16,
      {
        '/proc/self/cgroup': '4:cpu,cpuacct:/\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
        '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
      },
    ],
    ['nonsense', 16, { '/proc/self/cgroup': 'what\n0::/\n', '/sys/fs/cgroup/cpu.max': 'lots\n' }],
  ])('%s', (_, expected, files) => {
    expect(within(16, files)).toBe(expected)
  })

  test('of this machine are at least one, and no more than Node counts', () => {
    expect(usableCores()).toBeGreaterThanOrEqual(1)
    expect(usableCores()).toBeLessThanOrEqual(availableParallelism())
  })
})
