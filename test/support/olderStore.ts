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

/**
 * A key that was shown by box 1, then by box 2 if there is one, as far as is on record; what else is said of each, and whose it
 * is after all, if anybody's. Ids of results have no gap where `at` has none.
 */
function shownBy(at: number, of: 1 | 2 | null, said: readonly string[]) {
  const key = at.toString(16).padStart(64, '0')
  const rows = said.flatMap((text, i) => {
    const [box, result] = [`box-${at}-${i + 1}`, 2 * at - 1 + i]
    const changes = text.replace('KEY', `'${key}'`).replace('RESULT', `${result}`)
    return [
      `insert into boxes (id, address, provider) values ('${box}', 'ssh://${box}', 'p')`,
      shown(result, box, `'${key}'`),
      ...(changes ? [`update boxes set ${changes} where id = '${box}'`] : []),
    ]
  })
  return { key, owner: of && `box-${at}-${of}`, rows }
}

const COUNTS = 'last_accepted = RESULT'
const HAS_IT = 'prover_key = KEY'
const OLDER = "added_at = now() - interval '1 day'"

/** Before keys had a column. */
export const SHOWN_BEFORE_KEYS = [
  shownBy(1, 1, [COUNTS, `${COUNTS}, ${OLDER}`]),
  shownBy(2, 1, ['', '']),
  // Results before these have been deleted.
  shownBy(4, null, [COUNTS, `${COUNTS}, ${OLDER}`]),
  shownBy(5, 1, ['']),
]

export const SHOWN_SINCE = [
  // It is nobody's, as after scores had ended with an upgrade; or the other was there first then (attack 502 itself).
  shownBy(1, 1, ['', '']),
  shownBy(2, 1, ['', HAS_IT]),
  // It has moved, is gone, or has another key since.
  shownBy(3, 2, ['moves = 1', HAS_IT]),
  shownBy(4, 2, ['removed_at = now()', HAS_IT]),
  shownBy(5, 2, ["prover_key = 'another'", HAS_IT]),
  // What it showed when may have been before it moved, also where it has shown the key again since.
  shownBy(6, 2, [`moves = 1, ${COUNTS}, scored_at = now()`, HAS_IT]),
]

/** Where results before these have been deleted, as `retain` does, which leaves the last of each box however old. */
export const SHOWN_SINCE_DELETED = [
  shownBy(11, 2, ['', HAS_IT]),
  shownBy(12, 2, ['', `${HAS_IT}, moves = 1, verified_total = 1`]),
  shownBy(13, null, ['', '']),
  shownBy(14, null, ['moves = 1', '']),
  // Nobody else has shown it, as far as is known.
  shownBy(15, 1, ['']),
  shownBy(16, 1, [`moves = 1, ${COUNTS}, scored_at = now()`]),
  shownBy(17, null, ['moves = 1']),
]
