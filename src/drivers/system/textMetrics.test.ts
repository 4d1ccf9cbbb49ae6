import { expect, test } from 'vitest'
import { textMetrics } from './textMetrics.ts'

test('counters, gauges and histograms as Prometheus reads them', () => {
  const metrics = textMetrics([
    { name: 'jobs_total', help: 'Jobs.', type: 'counter' },
    { name: 'waiting', help: 'Waiting.', type: 'gauge' },
    { name: 'run_seconds', help: 'Length.', type: 'histogram', buckets: [1, 5] },
  ])
  metrics.add('jobs_total', { outcome: 'ac"ce\npted' })
  metrics.add('jobs_total', { outcome: 'ac"ce\npted' }, 2)
  metrics.set('waiting', 7)
  for (const value of [0.5, 3, 9]) metrics.observe('run_seconds', value)
  expect(metrics.text()).toBe(`# HELP jobs_total Jobs.
# TYPE jobs_total counter
jobs_total{outcome="ac_ce_pted"} 3
# HELP waiting Waiting.
# TYPE waiting gauge
waiting 7
# HELP run_seconds Length.
# TYPE run_seconds histogram
run_seconds_bucket{le="1"} 1
run_seconds_bucket{le="5"} 2
run_seconds_bucket{le="+Inf"} 3
run_seconds_sum 12.5
run_seconds_count 3
`)
  metrics.replace('waiting', [[1, { box: 'a' }]])
  metrics.replace('waiting', [[2, { box: 'b' }]])
  expect(metrics.text()).toContain('gauge\nwaiting{box="b"} 2\n# HELP')
  expect(() => metrics.add('typo_total')).toThrow('not declared')
  expect(() => metrics.replace('typo', [])).toThrow('not declared')
})
