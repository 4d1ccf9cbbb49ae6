import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CrashPlan, type CrashResult, crashOnce, LEASE_SECONDS } from '../../../test/suites/leaseCrashSuite.ts'
import { LeasedBox } from '../../../test/support/leaseCrash.ts'
import { whyNoOpenSsh } from '../../../test/support/openSshServer.ts'

const missing = whyNoOpenSsh()
if (missing !== null) console.log(`tests of leases against OpenSSH skipped: ${missing}`)

const CRASHES = 200
const BOXES = 3

/** A crash at a random instant of a lease's life, a little beyond its end included. */
const draw = (): CrashPlan => ({
  victim: (['provider', 'validator', 'both'] as const)[Math.floor(3 * Math.random())]!,
  when: Math.floor(Math.random() * 1000 * LEASE_SECONDS),
  restart: Math.random() < 0.5,
})

describe.skipIf(missing !== null)(`leases over ${CRASHES} random crashes`, () => {
  const boxes = Array.from({ length: BOXES }, () => new LeasedBox())
  beforeAll(() => Promise.all(boxes.map((box) => box.open())))
  afterAll(() => Promise.all(boxes.map((box) => box.close())))

  test('attack 52: access is always closed within the lease, and no key is left behind', async () => {
    const results: CrashResult[] = []
    let left = CRASHES
    const work = async (box: LeasedBox): Promise<void> => {
      while (left-- > 0) {
        const plan = draw()
        const result = await crashOnce(box, plan).catch((error: unknown) => {
          throw new Error(`after ${JSON.stringify(plan)}`, { cause: error })
        })
        results.push(result)
      }
    }
    await Promise.all(boxes.map(work))
    const at = (wanted: CrashResult['stage']): number => results.filter(({ stage }) => stage === wanted).length
    const stages = `${at('asked')} asked, ${at('connected')} connected, ${at('running')} running`
    const late = results.flatMap(({ seenMs }) => (seenMs === null ? [] : [seenMs])).sort((a, b) => b - a)
    console.log(
      `${results.length} crashes, ${late.length} leases, access seen last ${late[0]} ms after the end of a lease, ${stages}`,
    )
    expect(results).toHaveLength(CRASHES)
  }, 1_200_000)
})
