import { apiUrl, notRunning } from './validatorApi.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

interface Told {
  readonly program: string
  readonly time: string
  readonly round: {
    readonly number: number
    readonly openedAt: string
    readonly jobs: number
    readonly done: number
    readonly accepted: number
    readonly rejected: number
  } | null
  readonly queue: { readonly waiting: number; readonly leased: number; readonly lagSeconds: number }
  readonly boxes: number
  readonly byStatus: Readonly<Record<string, number>>
  readonly byClaimVerdict: Readonly<Record<string, number>>
  readonly resultsLastHour: number
}

/** What the running validator says of itself. */
export async function readStatus(config: ValidatorConfig): Promise<Told> {
  try {
    const response = await fetch(`${apiUrl(config)}/v1/status`, { signal: AbortSignal.timeout(10_000) })
    if (!response.ok) throw new Error(`status ${response.status}`)
    return (await response.json()) as Told
  } catch (cause) {
    throw notRunning(config, cause)
  }
}

export function showStatus({ program, round, queue, boxes, resultsLastHour, time, ...told }: Told): string {
  const states = countedOf(told.byStatus)
  const verdicts = countedOf(told.byClaimVerdict)
  return [
    `validator   ${program}, ${time}`,
    `boxes       ${boxes}${states === '' ? '' : ` (${states})`}`,
    `claims      ${verdicts === '' ? 'none judged yet' : verdicts}`,
    round
      ? `round       ${round.number}, opened ${round.openedAt}: ${round.done} of ${round.jobs} jobs done, ${round.accepted} accepted, ${round.rejected} rejected`
      : 'round       none yet',
    `queue       ${queue.waiting} waiting, ${queue.leased} under way, ${queue.lagSeconds.toFixed(0)} s behind`,
    `last hour   ${resultsLastHour} results`,
  ].join('\n')
}

const countedOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
