import { describe } from 'vitest'
import { leafSuite } from './suites/leafSuite.ts'
import { openReadableFiles } from './support/readableFiles.ts'

describe('whatever somebody else wrote into a file has its place, value by value', () =>
  leafSuite(openReadableFiles(), true))
