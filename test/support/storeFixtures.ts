import type { PlannedJob } from '../../src/core/schedule/planFleetRound.ts'
import type { BoxEntry, Finish, NewResult, TakenJob } from '../../src/ports/store.ts'

export const entry = (id: string, more: Partial<BoxEntry> = {}): BoxEntry => ({
  id,
  address: `ssh://root@${id}:22`,
  provider: 'alice',
  claim: null,
  allocated: false,
  ...more,
})

export const job = (boxId: string, more: Partial<PlannedJob> = {}): PlannedJob => ({
  boxId,
  round: 1,
  kind: 'full',
  reason: 'round',
  cohort: 0,
  delayMs: 0,
  ...more,
})

export const resultOf = (more: Partial<NewResult> = {}): NewResult => ({
  outcome: 'accepted',
  code: null,
  detail: null,
  preset: 'tiny',
  runId: null,
  proverKey: 'aa'.repeat(32),
  startedAt: '2026-01-01T00:00:00.000Z',
  seconds: 1.5,
  claimVerdict: null,
  judgement: { outcome: 'accepted' },
  inventory: null,
  figures: [],
  certificate: null,
  marks: [],
  ...more,
})

/** Of a box that has missed nothing and kept nobody waiting. */
export const PRESENT = { missed: 0, stalls: 0, restMs: null } as const

export const finishOf = (leased: TakenJob, owner: string, more: Partial<Finish> = {}): Finish => ({
  job: leased,
  owner,
  result: resultOf(),
  box: {
    status: 'verified',
    score: 100,
    terms: [],
    scored: true,
    atMost: null,
    failuresInRow: 0,
    busyInRow: 0,
    ...PRESENT,
    failed: false,
  },
  retryInMs: null,
  followUps: [],
  ...more,
})

export const failedBox = {
  status: 'failed',
  score: 0,
  terms: [],
  scored: true,
  atMost: null,
  failuresInRow: 1,
  busyInRow: 0,
  ...PRESENT,
  failed: true,
} as const
