import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CrashPlan, crashOnce } from '../../../test/suites/leaseCrashSuite.ts'
import { LeasedBox } from '../../../test/support/leaseCrash.ts'
import { whyNoOpenSsh } from '../../../test/support/openSshServer.ts'

const missing = whyNoOpenSsh()
if (missing !== null) console.log(`tests of leases against OpenSSH skipped: ${missing}`)

/** Six of the kinds that `crashes.long.test.ts` draws two hundred of. */
const PLANS: readonly CrashPlan[] = [
  { victim: 'provider', when: 'asking', restart: false },
  { victim: 'provider', when: 'asking', restart: true },
  { victim: 'provider', when: 'held', restart: false },
  { victim: 'provider', when: 'connected', restart: true },
  { victim: 'validator', when: 'held', restart: false },
  { victim: 'both', when: 'connected', restart: false },
]

describe.skipIf(missing !== null)('leases over crashes', () => {
  const boxes = PLANS.map(() => new LeasedBox())
  beforeAll(() => Promise.all(boxes.map((box) => box.open())))
  afterAll(() => Promise.all(boxes.map((box) => box.close())))

  test('attack 52: kill -9 of either side: access ends within the lease, and no key is left behind', async () => {
    const results = await Promise.all(PLANS.map((plan, i) => crashOnce(boxes[i]!, plan)))
    console.log(results.map(({ stage, seenMs }) => `${stage} ${seenMs ?? 'never'} ms`).join(', '))
    expect(results).toHaveLength(PLANS.length)
  })
})
