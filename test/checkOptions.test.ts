import { describe } from 'vitest'
import { checkOptionsSuite } from './suites/checkOptionsSuite.ts'
import { leafSuite } from './suites/leafSuite.ts'
import { openReadableFiles } from './support/readableFiles.ts'

describe('of a file that is checked', () => {
  const read = openReadableFiles()
  describe('an option that is taken is looked at', () => checkOptionsSuite(read, false))
  describe('whatever somebody else wrote into it has its place', () => leafSuite(read, false))
})
