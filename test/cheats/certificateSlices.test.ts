import { expect, test } from 'vitest'
import { issueCertificate, issueInSlices } from '../../src/core/certificate/issueCertificate.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { honestProgram } from '../support/inProcessBox.ts'
import { openReferenceDevice } from '../support/openReferenceDevice.ts'
import { syntheticIssue } from '../support/syntheticCertificate.ts'
import { VALIDATOR, verifyInProcess } from '../support/verifyInProcess.ts'
import { VirtualClock } from '../support/virtualClock.ts'

test('attack 162: the certificate of 32 devices is made in slices, and is the same file', async () => {
  const evidence = syntheticIssue({ catalogue: await shippedCatalogue(), id: 'h200-sxm', devices: 32 })
  let pauses = 0
  const text = await issueInSlices(evidence, VALIDATOR, async () => {
    pauses++
  })
  expect(text).toBe(issueCertificate(evidence, VALIDATOR))
  // Every part twice, and every MiB of letters.
  expect(pauses).toBeGreaterThanOrEqual(2 * evidence.run.parts.length + text.length / 2 ** 20 - 1)
})

test('attack 162: while a validator makes the certificate of a box, it hears the others', async () => {
  const clock = new VirtualClock()
  let heard = false
  const signer = {
    ...VALIDATOR,
    sign: (message: Uint8Array) => {
      // The result is signed first, then the whole file.
      void clock.sleep(0).then(() => {
        heard = true
      })
      return VALIDATOR.sign(message)
    },
  }
  const program = honestProgram({ devices: [openReferenceDevice({})] })
  const catalogue = await shippedCatalogue()
  const done = verifyInProcess({ program, catalogue, clock, signer }).then(() => heard)
  expect(await done).toBe(true)
})
