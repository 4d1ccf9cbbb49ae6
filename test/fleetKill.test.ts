import { killSuite } from './suites/killSuite.ts'
import { postgresTarget } from './support/killTargets.ts'

// The embedded store, which takes seconds to open, is killed in fleetKill.long.test.ts.
killSuite('PostgreSQL', 3, postgresTarget)
