import { readFileSync } from 'node:fs'

/** The version in package.json, two folders up from src/main and from dist/main alike. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version

export const programName = `touchstone ${version}`
