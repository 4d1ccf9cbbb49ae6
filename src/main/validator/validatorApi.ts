import { fault } from '../faults.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

/** Where the running validator answers. */
export function apiUrl({ api }: ValidatorConfig): string {
  const host = api?.host === '0.0.0.0' || api?.host === '::' ? '127.0.0.1' : (api?.host ?? '127.0.0.1')
  return `http://${host.includes(':') ? `[${host}]` : host}:${api?.port ?? 8787}`
}

export const notRunning = (config: ValidatorConfig, cause: unknown) =>
  fault('VALIDATOR_NOT_RUNNING', { url: apiUrl(config) }, cause)
