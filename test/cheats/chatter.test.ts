import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { verifyBox } from '../../src/apps/validator/verifyBox.ts'
import { openLocalBox } from '../../src/drivers/remote/local/openLocalBox.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { inlineChecker } from '../support/inlineChecker.ts'
import { testEngine } from '../support/testEngine.ts'
import { TINY, VALIDATOR } from '../support/verifyInProcess.ts'

const PROVER = fileURLToPath(new URL('../../dist/main/prover.js', import.meta.url))

/** Writes a stack trace, escapes and a megabyte of noise to standard error while the prover runs. */
const CHATTY = `(printf 'Traceback (most recent call last)\\n\\033[2J' >&2; head -c 1000000 /dev/urandom >&2) & exec "$@"`

test('attack 16: chatter on standard error has no effect', async () => {
  const command = ['/bin/sh', '-c', CHATTY, 'sh', process.execPath, PROVER, '--devices', 'cpu']
  const report = await verifyBox(
    { ...TINY, memory: true },
    {
      clock: systemClock,
      randomness: systemRandomness,
      signer: VALIDATOR,
      checker: inlineChecker(await testEngine()),
      catalogue: await shippedCatalogue(),
      connect: async () => openLocalBox({ command, env: process.env }),
    },
    new AbortController().signal,
  )
  expect(report.judgement.reason).toBeNull()
})
