import { describe } from 'vitest'
import { leafSuite } from './suites/leafSuite.ts'
import { workLeafSuite } from './suites/workLeafSuite.ts'
import { openReadableFiles } from './support/readableFiles.ts'

describe('whatever somebody else wrote into a file has its place, value by value', () =>
  leafSuite(openReadableFiles(), true))

describe('work run', () => workLeafSuite(['openings', 'sumcheck']))
