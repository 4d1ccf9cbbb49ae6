import type { Store } from '../../ports/store.ts'
import { boxQueries } from './boxQueries.ts'
import { careQueries } from './careQueries.ts'
import { migrate } from './migrate.ts'
import { jobQueries, roundQueries } from './queueQueries.ts'
import { resultQueries } from './resultQueries.ts'
import type { Database } from './sql.ts'
import { overview, statistics } from './statistics.ts'

/** One schema and one SQL over either engine. */
export async function storeFrom(db: Database): Promise<Store> {
  await migrate(db)
  return {
    ...boxQueries(db),
    ...roundQueries(db),
    ...jobQueries(db),
    ...resultQueries(db),
    ...careQueries(db),
    overview: () => overview(db),
    statistics: () => statistics(db),
    close: () => db.close(),
  }
}
