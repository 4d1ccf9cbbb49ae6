import type { BackEnd } from '../../../ports/backEnd.ts'

export const cpuBackEnd: BackEnd = {
  name: 'cpu',
  class: 'cpu',
  open: async () => [await (await import('./openCpuDevice.ts')).openCpuDevice()],
  openWork: async () => [await (await import('./work/openCpuWork.ts')).openCpuWork()],
}
