import type { BackEnd } from '../../../ports/backEnd.ts'
import { fault } from './faults.ts'

/** Loaded when it is used: a machine without a card needs no native part. */
export const cudaBackEnd: BackEnd = {
  name: 'cuda',
  class: 'gpu',
  open: async (options) => (await import('./openCudaDevices.ts')).openCudaDevices(options),
  isAbsent: (error) => fault.is(error, 'NO_GPU_DRIVER', 'NO_GPU'),
  openWork: async () => (await import('./work/openCudaWork.ts')).openCudaWork(),
  listed: async () => (await import('./describeCards.ts')).listedCards(),
  describe: async (devices) => (await import('./describeCards.ts')).describeCards(devices),
}
