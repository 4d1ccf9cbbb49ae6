import { expect, test } from 'vitest'
import { testSigner } from '../../../test/support/testSigner.ts'
import { openLeasedBox } from './openLeasedBox.ts'

const key = '0'.repeat(64)

test.each(['127.0.0.1:99999', '[:::]:1', '1.2.3.4.5:1'])(
  '%s is refused as an address before it is dialled',
  async (at) => {
    const target = { address: `lease://${at}#${key}`, signer: testSigner(1), proverArguments: [], env: {} }
    await expect(openLeasedBox(target, new AbortController().signal)).rejects.toMatchObject({
      blame: 'user',
      detail: { code: 'BAD_ADDRESS' },
    })
  },
)
