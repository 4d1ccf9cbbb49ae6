import { describe } from 'vitest'
import { checkOptionsSuite } from './suites/checkOptionsSuite.ts'
import { openReadableFiles } from './support/readableFiles.ts'

describe('an option that is taken is looked at, of files too that take long', () =>
  checkOptionsSuite(openReadableFiles(), true))
