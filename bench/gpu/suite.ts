import { openCudaDevices } from '../../src/drivers/gpu/cuda/openCudaDevices.ts'
import { deviceSuite } from '../../test/suites/deviceSuite.ts'
import { runSuites } from './smallTestRunner.ts'

/** The Device port's own suite on every way a card can be driven here: the library, our kernels, a context of its own. */
const open = async (context: 'shared' | 'own') => (await openCudaDevices({ ordinals: [0], context }))[0]!
deviceSuite(`cuda (${process.env.TOUCHSTONE_CUBLASLT === 'none' ? 'own kernels' : 'cuBLASLt'})`, {
  open: () => open('shared'),
})
const { passed, failed } = await runSuites()
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
