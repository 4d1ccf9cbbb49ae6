import type { BackEnd } from '../../ports/backEnd.ts'
import { cpuBackEnd } from './cpu/cpuBackEnd.ts'
import { cudaBackEnd } from './cuda/cudaBackEnd.ts'

/** The registry: every kind of device there is. Nothing outside this file and their folders names one. */
export const BACK_ENDS: readonly BackEnd[] = [cpuBackEnd, cudaBackEnd]
