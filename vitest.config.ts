import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const long = process.env.TOUCHSTONE_LONG === '1'

/** What waits longest begins first: else one worker is left with it at the end. */
const SLOWEST = [
  'e2e/work',
  'e2e/cli',
  'e2e/validator',
  'inference/inference',
  'ssh/boxScripts',
  'e2e/leftProvers',
  'lease/ownAccount',
  'fleet/cohorts',
  'independent/crossCheck',
  'work/watchWork',
  'test/checkOptions',
  'e2e/verifySsh',
  'e2e/nodes',
  'e2e/package',
  'acted/adversaries',
  'e2e/checkPage',
  'e2e/provider',
  'e2e/cheatsOverSsh',
]

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = SLOWEST.findIndex((name) => moduleId.includes(name))
      return found < 0 ? SLOWEST.length : found
    }
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

/** `npm test` runs `*.test.ts`; `npm run test:long` adds `*.long.test.ts`. Workers and child processes come from dist/. */
export default defineConfig({
  test: {
    include: long ? ['{src,test,web}/**/*.test.ts'] : ['{src,test,web}/**/!(*.long).test.ts'],
    testTimeout: long ? 600_000 : 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // No module keeps what a test could leave behind, and loading them all anew for each file took a sixth of the time.
    isolate: long,
    // Keccak, loaded once SHA-512 runs hot, has V8 never optimise SHA-512 again: signatures took ten times as long from there on.
    execArgv: ['--import', '@noble/hashes/sha3.js'],
    // One more than cores: tests of real processes wait for a quarter of their time.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    reporters: ['default'],
  },
})
