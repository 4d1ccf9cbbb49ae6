import { describe } from 'vitest'
import { checkOptionsSuite } from './suites/checkOptionsSuite.ts'

describe('an option that is taken is looked at, of files too that take long', () => checkOptionsSuite(true))
