import { killSuite } from './suites/killSuite.ts'
import { embeddedTarget, postgresTarget } from './support/killTargets.ts'

killSuite('PostgreSQL', 20, postgresTarget)
killSuite('embedded', 20, embeddedTarget)
