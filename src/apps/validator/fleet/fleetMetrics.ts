import type { MetricDefinition } from '../../../ports/metrics.ts'

export const FLEET_METRICS: readonly MetricDefinition[] = [
  { name: 'touchstone_jobs_total', help: 'Jobs finished, by kind and outcome.', type: 'counter' },
  { name: 'touchstone_rejections_total', help: 'Runs rejected, by reason code.', type: 'counter' },
  { name: 'touchstone_faults_total', help: 'Runs that ended in a fault, by code.', type: 'counter' },
  {
    name: 'touchstone_jobs_lost_total',
    help: 'Jobs given up because another validator took them over.',
    type: 'counter',
  },
  { name: 'touchstone_store_errors_total', help: 'Statements the store did not answer.', type: 'counter' },
  { name: 'touchstone_jobs_running', help: 'Boxes being verified now.', type: 'gauge' },
  { name: 'touchstone_jobs_waiting', help: 'Jobs in the queue.', type: 'gauge' },
  { name: 'touchstone_queue_lag_seconds', help: 'How long the longest-waiting due job has been due.', type: 'gauge' },
  { name: 'touchstone_round_number', help: 'The latest round.', type: 'gauge' },
  { name: 'touchstone_round_published', help: 'The latest round that is final on the ledger.', type: 'gauge' },
  { name: 'touchstone_ledger_errors_total', help: 'Tries to publish a round that failed, by code.', type: 'counter' },
  {
    name: 'touchstone_run_seconds',
    help: 'Length of a run, by kind.',
    type: 'histogram',
    buckets: [0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 900],
  },
]
