import { Buffer } from 'node:buffer'
import { type Holder, issue, revokedBy, signRaw } from './testAuthority.ts'
import { digest } from './testNvidia.ts'
import { integer } from './writeDer.ts'

export interface SnpWishes {
  readonly reportData: Uint8Array
  readonly debug?: boolean
  readonly movable?: boolean
  readonly measurement?: Uint8Array
  readonly chipId?: Uint8Array
  readonly level?: number
  readonly privilege?: number
  /** Levels of other times, by their place. */
  readonly levelsAt?: Readonly<Record<number, number>>
  /** Where the host put a byte of its own. */
  readonly hostDataAt?: number
}

const CHIP = Buffer.alloc(64, 0x5a)
const LEVELS: readonly (readonly [string, number, number])[] = [
  ['1.3.6.1.4.1.3704.1.3.1', 0, 3],
  ['1.3.6.1.4.1.3704.1.3.2', 1, 0],
  ['1.3.6.1.4.1.3704.1.3.3', 6, 8],
  ['1.3.6.1.4.1.3704.1.3.8', 7, 115],
]

/** A made-up processor in the form of AMD's: chain of chip, family and root, and reports over any data. */
export class TestSnp {
  readonly holders: readonly Holder[]

  constructor() {
    const root = issue({ name: 'ARK-Test', ca: true, kind: 'rsa' })
    const family = issue({ name: 'SEV-Test', ca: true, pathLength: 0, kind: 'rsa' }, root)
    const levels = LEVELS.map(([oid, , level]) => [oid, { value: integer(level) }] as const)
    const more = Object.fromEntries([...levels, ['1.3.6.1.4.1.3704.1.4', { value: CHIP }] as const])
    this.holders = [issue({ name: 'SEV-VCEK', more }, family), family, root]
  }

  get certificates(): readonly Buffer[] {
    return this.holders.map(({ certificate }) => certificate)
  }

  /** The vendor's list, of this day. */
  crl(atMs: number, revoked: readonly Holder[] = []): Buffer {
    return revokedBy(this.holders[2]!, revoked, atMs - 86_400_000)
  }

  report({
    reportData,
    debug = false,
    movable = false,
    measurement = digest('image'),
    chipId = CHIP,
    level,
    privilege = 0,
    levelsAt = {},
    hostDataAt,
  }: SnpWishes): Buffer {
    const report = Buffer.alloc(1184)
    report[0] = 2
    report[0x30] = privilege
    report[0x34] = 1
    report[0x0a] = 0x03 | (debug ? 0x08 : 0) | (movable ? 0x04 : 0)
    report.set(reportData, 0x50)
    report.set(measurement, 0x90)
    for (const at of [0x38, 0x180, 0x1e0, 0x1f0])
      for (const [, byte, value] of LEVELS) report[at + byte] = levelsAt[at] ?? level ?? value
    if (hostDataAt !== undefined) report[hostDataAt] = 1
    report.set(chipId, 0x1a0)
    const raw = signRaw(this.holders[0]!.key, report.subarray(0, 0x2a0))
    report.set(Buffer.from(raw.subarray(0, 48)).reverse(), 0x2a0)
    report.set(Buffer.from(raw.subarray(48)).reverse(), 0x2e8)
    return report
  }
}
