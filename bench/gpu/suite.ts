import { openCudaDevices } from '../../src/drivers/gpu/cuda/openCudaDevices.ts'
import { deviceSuite } from '../../test/suites/deviceSuite.ts'
import { checkMemory } from './exactness.ts'
import { openCard } from './openCard.ts'
import { runSuites } from './smallTestRunner.ts'

/** The Device port's own suite on every way a card can be driven here: the library, our kernels, a context of its own. */
const open = async (context: 'shared' | 'own') => (await openCudaDevices({ ordinals: [0], context }))[0]!
deviceSuite(`cuda (${process.env.TOUCHSTONE_CUBLASLT === 'none' ? 'own kernels' : 'cuBLASLt'})`, {
  open: () => open('shared'),
})
const { passed, failed } = await runSuites()
const { card, engine } = await openCard()
const wide = checkMemory(card, engine, 1024, 4)
console.log(wide.ok ? '  ok  ' : '  FAIL', wide.what, wide.note ?? '')
card.close()
if (!wide.ok) process.exitCode = 1
console.log(`${passed} passed, ${failed} failed`)
if (failed > 0) process.exitCode = 1
