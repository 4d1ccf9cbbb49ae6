import { defineConfig } from 'vitest/config'

const long = process.env.TOUCHSTONE_LONG === '1'

/** `npm test` runs `*.test.ts`; `npm run test:long` adds `*.long.test.ts`. Workers and child processes come from dist/. */
export default defineConfig({
  test: {
    include: long ? ['{src,test,web}/**/*.test.ts'] : ['{src,test,web}/**/!(*.long).test.ts'],
    testTimeout: long ? 600_000 : 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // No module keeps what a test could leave behind, and loading them all anew for each file took a sixth of the time.
    isolate: long,
    maxWorkers: 2,
    reporters: ['default'],
  },
})
