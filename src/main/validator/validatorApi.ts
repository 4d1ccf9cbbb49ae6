import { TouchstoneError } from '../../ports/errors.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

/** Where the running validator answers. */
export function apiUrl({ api }: ValidatorConfig): string {
  const host = api?.host === '0.0.0.0' || api?.host === '::' ? '127.0.0.1' : (api?.host ?? '127.0.0.1')
  return `http://${host.includes(':') ? `[${host}]` : host}:${api?.port ?? 8787}`
}

export const notRunning = (config: ValidatorConfig, cause: unknown) =>
  new TouchstoneError(
    { code: 'VALIDATOR_NOT_RUNNING' },
    {
      message: `no validator answers at ${apiUrl(config)}`,
      blame: 'user',
      retry: true,
      nextStep: 'Start it with "touchstone validator --config FILE", or name the right file.',
      cause,
    },
  )
