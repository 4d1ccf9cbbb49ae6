import type { BackEnd } from '../../../ports/backEnd.ts'

export const cpuBackEnd: BackEnd = {
  name: 'cpu',
  class: 'cpu',
  open: async () => [await (await import('./openCpuDevice.ts')).openCpuDevice()],
  openTensors: async () => [(await import('./workload/openCpuTensors.ts')).openCpuTensors()],
}
