import { expect, test } from 'vitest'
import { holds } from '../models/report.ts'
import { standInCrypto } from '../standIns.ts'
import { ATTACKS } from './adversaries.ts'

const crypto = standInCrypto()

test.each(ATTACKS.map((attack) => ({ attack, name: attack.name })))(
  'attacks 19 and 20, on real blocks, for longer: $name gains at most what the specification says',
  ({ attack }) => {
    const findings = attack({ crypto, seed: 'test', epochs: 10 })
    expect(findings.filter((finding) => !holds(finding))).toEqual([])
  },
)
