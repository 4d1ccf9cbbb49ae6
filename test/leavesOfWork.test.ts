import { describe } from 'vitest'
import { workLeafSuite } from './suites/workLeafSuite.ts'

describe('work run', () => workLeafSuite(['sumcheck']))
