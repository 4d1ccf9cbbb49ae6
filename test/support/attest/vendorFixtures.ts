import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Evidence of real devices that others published: not part of this repository, and looked for beside it. */
const folder =
  process.env.TOUCHSTONE_ATTESTATION_FIXTURES ??
  fileURLToPath(new URL('../../../../shared/fixtures/attestation', import.meta.url))

export const hasFixtures = existsSync(join(folder, 'SHA256SUMS'))

export const WHY_NOT = 'no evidence of real devices here: name its folder in TOUCHSTONE_ATTESTATION_FIXTURES'

export const fixture = (path: string): Buffer => readFileSync(join(folder, path))

/** A file of hex digits, or one of bytes. */
export const hexFixture = (path: string): Buffer => Buffer.from(fixture(path).toString('latin1').trim(), 'hex')
