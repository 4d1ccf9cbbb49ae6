/** Rules of a fleet in tests and benches: one round for ever, no delays, no retries, quick polls. */
export const fleetRules = (score) => ({
  owner: 'test',
  roundEveryMs: 3_600_000,
  blocksPerRound: 360,
  maxDelayMs: 0,
  probes: false,
  cohortSize: 1,
  concurrency: 4,
  leaseMs: 60_000,
  jobLimitMs: 60_000,
  graceMs: 0,
  pollMs: 20,
  retries: { limit: 0, intervalMs: 0 },
  box: { busyLimit: 2 },
  score,
  retention: { resultDays: 90, certificateDays: 7 },
})
