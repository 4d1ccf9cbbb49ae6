import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { bundleOf, makeHardware } from '../../../test/support/attest/attestRun.ts'
import { TestDevice } from '../../../test/support/attest/testNvidia.ts'
import { temporaryFolder } from '../../../test/support/temporaryFolder.ts'
import type { WorkRejected } from '../../apps/work/proverLine.ts'
import { writeBundle } from '../../core/attest/bundle.ts'
import { judgingBy } from './runWork.ts'
import { doubtsOf } from './tellWork.ts'

test('attack 510: no number of boxes is a yes against one that fell silent, but for this machine and a replay', () => {
  const codes = (over: object, addresses: readonly string[]) => {
    const two = { agreed: [0, 1], credited: 1, isOpen: true, isReplayed: false }
    return doubtsOf({ ...two, ...over }, addresses).map(({ code }) => code)
  }
  expect(codes({}, ['root@a', 'root@b'])).toEqual(['RESULT_NOT_SHOWN'])
  expect(codes({ isOpen: false }, ['root@a', 'root@b'])).toEqual([])
  expect(codes({}, ['root@a', 'local'])).toEqual([])
  expect(codes({ isOpen: false }, ['root@a'])).toEqual(['RESULT_NOT_SHOWN'])
  expect(codes({ isReplayed: true }, ['root@a', 'root@b'])).toEqual([])
})

describe('attack 512: an attested work that lasts longer than answers about revocation', () => {
  const atMs = Date.parse('2026-11-15T12:00:00Z')
  const { vendor, rims, policy, answers } = makeHardware(atMs)
  const gpu = new TestDevice(vendor)

  /** What the command makes of evidence after so many hours; it began after so many. */
  async function judgedAt(began: number, ...hours: readonly number[]) {
    const folder = temporaryFolder()
    const fileOf = (bytes: Uint8Array | string, i = 0) => {
      const file = join(folder, `${typeof bytes}${bytes.length}-${i}`)
      writeFileSync(file, bytes)
      return file
    }
    vi.useFakeTimers({ now: atMs + 3_600_000 * began, toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const files = { policy: fileOf(JSON.stringify(policy)), rim: rims.map(fileOf), ocsp: answers([gpu]).map(fileOf) }
    const { judge, open } = judgingBy(files)
    const said: string[] = []
    for (const hour of hours) {
      vi.setSystemTime(atMs + 3_600_000 * hour)
      const nonce = new Uint8Array(32).fill(hour)
      said.push(await judge(writeBundle(bundleOf([gpu], nonce)), nonce).catch(({ message }: WorkRejected) => message))
    }
    return { said, doubts: open() }
  }

  test('holds, where they held when it began', async () => {
    const { said, doubts } = await judgedAt(0, 0, 30)
    expect(said[0]).toContain(gpu.pdi)
    expect(said[1]).toBe(said[0])
    expect(doubts).toEqual([])
  })

  test('does not, where they were old then', async () => {
    expect((await judgedAt(30, 30)).said[0]).toContain('OCSP_STALE')
  })
})
