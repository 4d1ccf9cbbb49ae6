import { describe } from 'vitest'
import { drillSuite } from '../../../../test/suites/drillSuite.ts'

describe('whatever two others do, to the end of every appeal', () => drillSuite(25, 48n))
