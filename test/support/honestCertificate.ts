import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { honestProgram } from './inProcessBox.ts'
import { openReferenceDevice } from './openReferenceDevice.ts'
import { testEngine } from './testEngine.ts'
import { verifyInProcess } from './verifyInProcess.ts'

/** The certificate of an honest run in this process, signed by VALIDATOR, and a moment at which it is a second old. */
export async function honestCertificate() {
  const engine = await testEngine()
  const program = honestProgram({ devices: [openReferenceDevice({ engine })] })
  const { certificate, startedAt } = await verifyInProcess({ program, catalogue: await shippedCatalogue(), engine })
  return { certificate, nowMs: Date.parse(startedAt) + 1000 }
}
