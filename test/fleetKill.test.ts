import { killSuite } from './suites/killSuite.ts'
import { embeddedTarget, postgresTarget } from './support/killTargets.ts'

killSuite('PostgreSQL', 2, postgresTarget)
killSuite('embedded', 1, embeddedTarget)
