/**
 * Rows written before a claim's verdict had a column of its own, from the judgements beside them: by the migration, and
 * after a backup of that time was loaded. A second time it finds nothing to do.
 */
export const CLAIMS_OF_OLD: readonly string[] = [
  `update results set claim_verdict = judgement #>> '{claim,verdict}'
    where kind = 'full' and outcome <> 'rejected' and claim_verdict is null and judgement #>> '{claim,verdict}' is not null`,
  `update boxes set claim_verdict = r.claim_verdict from results r
    where r.id = boxes.last_accepted and boxes.claim_verdict is null and boxes.status in ('verified', 'busy')
      and boxes.failures_in_row = 0
      and boxes.claim = r.judgement #>> '{claim,text}'`,
  `update boxes set status = case when claim_verdict is null then 'new' else 'claim-unmet' end
    where status = 'verified' and claim is not null and claim_verdict is distinct from 'matches'`,
]

/** The rules that scores are earned by now; what has none, or an older one, was earned by others. */
export const SCORE_RULES = 4

/** Scores of older rules end: the box earns its score again. For a migration, and for an older backup; harmless twice. */
export const SCORES_OF_OLD: readonly string[] = [
  `update boxes set status = case when status = 'failed' then status else 'new' end, claim_verdict = null, score = 0,
    terms = '[]', scored_at = null, last_accepted = null
    where scored_at is not null and score_rules is distinct from ${SCORE_RULES}`,
]

/** Since this schema keys are as they should be, and a backup says of which it is. */
export const SCHEMA_OF_KEYS = 14

/** Boxes that have no key, with that of what was accepted last: a box that has moved since has left its key behind. */
const WITHOUT_KEY = `select b.id, l.prover_key, coalesce(b.moves, 0) as moves from boxes b join (
      select distinct on (box_id) box_id, prover_key from results
      where outcome = 'accepted' and prover_key is not null order by box_id, id desc) l on l.box_id = b.id
    where b.removed_at is null and b.prover_key is null
      and (coalesce(b.moves, 0) = 0
        or exists (select from results a where a.id = b.last_accepted and a.prover_key = l.prover_key))`

/** By whom each key was shown first, of all that is on record; `place` is its id if no result before it was deleted. */
const FIRST_SHOWN = `select distinct on (prover_key) id, box_id, prover_key, place
    from (select *, row_number() over (order by id) as place from results) r
    where outcome = 'accepted' and prover_key is not null order by prover_key, id`

/**
 * Whose prover key is whose: scores that ended took that with them, and a key that nobody has belongs to whoever shows it
 * first (attack 502). A box that has no key has the one that it showed last in two cases. It never moved and was the first
 * of all to show that key, and every result up to then is on record: then it has it though another has it now (attack 515).
 * Or nobody else is known to have shown it, and nobody has it. Else a key stays whose it is, or nobody's: results are deleted,
 * but the last of each box, so that the first on record may be who showed it once (attack 523). For a migration, before
 * scores end, which tell who has moved; and for a backup from before schema 14. In a store of today it might undo what a
 * move did.
 */
export const KEYS_OF_OLD: readonly string[] = [
  `update boxes set prover_key = case boxes.id when k.id then k.prover_key end
    from (${WITHOUT_KEY}) k join (${FIRST_SHOWN}) f on f.box_id = k.id and f.prover_key = k.prover_key
    where k.moves = 0 and f.id = f.place and (boxes.id = k.id or boxes.prover_key = k.prover_key)`,
  `update boxes set prover_key = k.prover_key from (${WITHOUT_KEY}) k
    where boxes.id = k.id
      and not exists (select from results o
        where o.prover_key = k.prover_key and o.outcome = 'accepted' and o.box_id <> k.id)
      and not exists (select from boxes o where o.prover_key = k.prover_key and o.removed_at is null)`,
]

/** Nor does what was earned by older rules count when its window is over. */
export const PENDING_OF_OLD = `update boxes set pending = null
  where pending is not null and (pending ->> 'rules')::int4 is distinct from ${SCORE_RULES}`

/**
 * Applied in order, each once, all in one transaction. Never edit one that was released: add another.
 * Columns hold plain facts; everything hostile (inventory, judgement) is stored as decoded JSON, never as raw text.
 */
export const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `create table boxes (
      id text primary key,
      address text not null,
      provider text not null,
      claim text,
      allocated boolean not null default false,
      added_at timestamptz not null default clock_timestamp(),
      removed_at timestamptz,
      status text not null default 'new',
      score int8 not null default 0,
      terms jsonb not null default '[]',
      scored_at timestamptz,
      failures_in_row int4 not null default 0,
      failures_total int4 not null default 0,
      busy_in_row int4 not null default 0,
      verified_total int4 not null default 0,
      last_result int8,
      last_accepted int8,
      inventory jsonb
    )`,
    'create index boxes_by_provider on boxes (provider, id)',
    `create table rounds (
      number int8 primary key,
      opened_at timestamptz not null default clock_timestamp(),
      height int8
    )`,
    `create table jobs (
      id int8 generated by default as identity primary key,
      round int8 not null,
      box_id text not null references boxes (id),
      kind text not null,
      reason text not null,
      cohort int4 not null,
      state text not null default 'waiting',
      outcome text,
      attempt int4 not null default 0,
      tries int4 not null default 0,
      created_at timestamptz not null default clock_timestamp(),
      due_at timestamptz not null,
      lease_owner text,
      leased_at timestamptz,
      lease_until timestamptz,
      finished_at timestamptz,
      unique (round, box_id, kind, reason)
    )`,
    "create index jobs_open on jobs (due_at, id) where state <> 'done'",
    'create index jobs_by_box on jobs (box_id)',
    // A box is never measured twice at once: two runs would share its cards and both look slow.
    "create unique index one_run_per_box on jobs (box_id) where state = 'leased'",
    `create table results (
      id int8 generated by default as identity primary key,
      job_id int8 not null,
      attempt int4 not null,
      round int8 not null,
      box_id text not null,
      provider text not null,
      kind text not null,
      reason text not null,
      outcome text not null,
      code text,
      detail jsonb,
      preset text,
      run_id text unique,
      prover_key text,
      started_at timestamptz not null,
      seconds float8 not null,
      score int8 not null,
      judgement jsonb,
      inventory jsonb,
      marks jsonb not null default '[]',
      at timestamptz not null default clock_timestamp(),
      unique (job_id, attempt)
    )`,
    'create index results_by_box on results (box_id, id)',
    'create index results_by_time on results (at)',
    'create index results_by_round on results (round)',
    `create table figures (
      result_id int8 not null references results (id) on delete cascade,
      device int4 not null,
      name text not null,
      value float8 not null,
      primary key (result_id, device, name)
    )`,
    `create table certificates (
      run_id text primary key,
      result_id int8 not null references results (id) on delete cascade,
      box_id text not null,
      gzip bytea not null,
      at timestamptz not null default clock_timestamp()
    )`,
    'create index certificates_by_result on certificates (result_id)',
    `create table scores (
      id int8 generated by default as identity primary key,
      box_id text not null,
      result_id int8 not null references results (id) on delete cascade,
      score int8 not null,
      terms jsonb not null,
      at timestamptz not null default clock_timestamp()
    )`,
    'create index scores_by_box on scores (box_id, id)',
    'create index scores_by_result on scores (result_id)',
    `create table failures (
      id int8 generated by default as identity primary key,
      box_id text not null,
      provider text not null,
      result_id int8 not null references results (id) on delete cascade,
      outcome text not null,
      code text,
      at timestamptz not null default clock_timestamp()
    )`,
    'create index failures_by_box on failures (box_id, id)',
    'create index failures_by_result on failures (result_id)',
    'create table nonces (nonce text primary key, at timestamptz not null default clock_timestamp())',
  ],
  [
    'alter table boxes add column claim_verdict text',
    'alter table results add column claim_verdict text',
    ...CLAIMS_OF_OLD,
  ],
  [
    // All may be null, so that a backup from before them can be loaded. A score without rules is an old one.
    'alter table boxes add column score_rules int4',
    'alter table scores add column score_rules int4',
    // How often address or claim were changed: what was begun before is not about the box as it is now.
    'alter table boxes add column moves int4',
    'alter table boxes add column owes jsonb',
    'alter table boxes add column missed int4',
    'alter table boxes add column stalls int4',
    'alter table boxes add column rest_until timestamptz',
    ...SCORES_OF_OLD,
  ],
  // A cohort is taken whole: its jobs are looked up together.
  ["create index jobs_by_cohort on jobs (round, cohort) where state <> 'done'"],
  // Beside the box, because a list of boxes must not read a judgement for each.
  ['alter table boxes add column models jsonb'],
  // Whose chips attested in the last two rounds; not worth a place in a backup.
  ['create table chips (round int8 not null, chip text not null, box_id text not null, primary key (round, chip))'],
  [
    // Of the file, not of what is stored of it; null for certificates from before this column.
    'alter table certificates add column sha256 text',
    // Rounds on their way to the ledger, as they were signed.
    `create table kept_rounds (
      validator text not null,
      round int8 not null,
      record text not null,
      state text not null default 'waiting',
      tries int4 not null default 0,
      said text,
      due_at timestamptz not null default clock_timestamp(),
      at timestamptz not null default clock_timestamp(),
      primary key (validator, round)
    )`,
    "create index kept_rounds_waiting on kept_rounds (validator, round) where state = 'waiting'",
  ],
  [
    // The last fleet round that it was away from, and the first in which it stood as it is now.
    'alter table boxes add column away_in int8',
    'alter table boxes add column stood int8',
    'update boxes set stood = 0 where scored_at is not null',
  ],
  // What it showed beside others, by their ids.
  ['alter table boxes add column beside jsonb'],
  [
    // A score is for one window: nothing is remembered of pairs. `stood` is the last round now in which it had a place.
    'alter table boxes drop column owes, drop column beside, drop column away_in',
    // The round in which its score was earned; and what it has earned in a window that is not over.
    'alter table boxes add column since int8, add column pending jsonb',
    // How often the window of a round was begun, whether it is over, and whether anybody earned a score there.
    'alter table rounds add column window_no int4, add column settled boolean, add column paid boolean',
    'create index rounds_paid on rounds (number) where paid',
    'alter table jobs add column window_no int4',
    ...SCORES_OF_OLD,
  ],
  [
    // Whether its score was earned beside nobody, and whether any was in the round.
    'alter table boxes add column alone boolean',
    'alter table rounds add column alone boolean',
    'create index rounds_alone on rounds (number) where alone',
    PENDING_OF_OLD,
  ],
  // Whose they are is said by the next.
  ['alter table boxes add column prover_key text', 'create index boxes_by_key on boxes (prover_key)'],
  // What boxes on one card show in one precision is paid once (attack 491).
  [...KEYS_OF_OLD, ...SCORES_OF_OLD, PENDING_OF_OLD],
  // For stores in which the last one left a key with whoever had it, though another showed it first.
  KEYS_OF_OLD,
]

/** Order of a dump: whatever is referred to comes first. */
export const TABLES = [
  'boxes',
  'rounds',
  'jobs',
  'results',
  'figures',
  'certificates',
  'scores',
  'failures',
  'nonces',
  'kept_rounds',
] as const

export const TABLES_WITH_NUMBERS: readonly string[] = ['jobs', 'results', 'scores', 'failures']
