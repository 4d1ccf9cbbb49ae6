import { readFileSync } from 'node:fs'

/** Set by the bundler in a release, which has no package.json of ours above it. */
declare const TOUCHSTONE_VERSION: string | undefined

/** Otherwise the version in package.json, two folders up from src/main and from dist/main alike. */
export const version: string = typeof TOUCHSTONE_VERSION === 'string' ? TOUCHSTONE_VERSION : readVersion()

export const programName = `touchstone ${version}`

function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
