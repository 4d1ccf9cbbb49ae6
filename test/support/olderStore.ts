import { MIGRATIONS } from '../../src/drivers/store/migrations.ts'

/** What a release of that schema, and whoever used it, left in the tables. */
export const olderStore = (schema: number, rows: readonly string[]): readonly string[] => [
  ...MIGRATIONS.slice(0, schema).flat(),
  ...rows,
  'create table touchstone_schema (version int4 primary key, at timestamptz default now())',
  `insert into touchstone_schema (version) select generate_series(1, ${schema})`,
]

const shown = (id: number, box: string, key: string) => `insert into results
    (id, job_id, attempt, round, box_id, provider, kind, reason, outcome, prover_key, started_at, seconds, score)
  values (${id}, ${id}, 1, 1, '${box}', 'p', 'full', 'round', 'accepted', ${key}, now(), 1, 1)`

/** A key that two boxes have shown, box 1 before box 2 as far as is on record; whose it is, and what else is said of them. */
function shownTwice(
  at: number,
  of: 1 | 2,
  said: Readonly<Partial<Record<1 | 2, string>>>,
  more: readonly string[] = [],
) {
  const key = at.toString(16).padStart(64, '0')
  const rows = ([1, 2] as const).flatMap((which) => {
    const box = `box-${at}-${which}`
    const changes = said[which]?.replace('KEY', `'${key}'`).replace('RESULT', `${10 * at + which}`)
    return [
      `insert into boxes (id, address, provider) values ('${box}', 'ssh://${box}', 'p')`,
      shown(10 * at + which, box, `'${key}'`),
      ...(changes ? [`update boxes set ${changes} where id = '${box}'`] : []),
    ]
  })
  return { key, owner: `box-${at}-${of}`, rows: [...rows, ...more] }
}

const COUNTS = 'last_accepted = RESULT'
const HAS_IT = 'prover_key = KEY'
/** More were accepted than are on record. */
const FORGOTTEN = `${HAS_IT}, verified_total = 3`

/** Before keys had a column: when it came, the oldest of those whose last run counted had the key. */
export const SHOWN_BEFORE_KEYS = [
  shownTwice(1, 1, { 1: COUNTS, 2: `${COUNTS}, added_at = now() - interval '1 day'` }),
  shownTwice(2, 1, {}),
]

export const SHOWN_SINCE = [
  // It is nobody's, as after scores had ended with an upgrade; or the other was there first then (attack 502 itself).
  shownTwice(1, 1, {}),
  shownTwice(2, 1, { 2: HAS_IT }),
  // It has shown the key again since its claim was changed.
  shownTwice(3, 1, { 1: `moves = 1, ${COUNTS}, scored_at = now()`, 2: HAS_IT }),
  // It has moved, is gone, or has another key since.
  shownTwice(4, 2, { 1: 'moves = 1', 2: HAS_IT }),
  shownTwice(5, 2, { 1: 'removed_at = now()', 2: HAS_IT }),
  shownTwice(6, 2, { 1: "prover_key = 'another'", 2: HAS_IT }),
  // The other may have shown it before, in what was deleted; or had another key then.
  shownTwice(7, 2, { 2: FORGOTTEN }),
  shownTwice(8, 1, { 2: FORGOTTEN }, [shown(80, 'box-8-2', "'another'")]),
]
