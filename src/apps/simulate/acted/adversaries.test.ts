import { expect, test } from 'vitest'
import { holds } from '../models/report.ts'
import { standInCrypto } from '../standIns.ts'
import { ATTACKS } from './adversaries.ts'
import { runDrilling } from './runDrilling.ts'

const crypto = standInCrypto()

test.each(ATTACKS.map((attack) => ({ attack, name: attack.name })))(
  'attacks 19 and 20, on real blocks: $name gains at most what the specification says',
  ({ attack }) => {
    const findings = attack({ crypto, seed: 'test', epochs: 10 })
    expect(findings.filter((finding) => !holds(finding))).toEqual([])
  },
)

test('attack 20: the measure can fail: who lies about everything voids everything in strict mode', () => {
  const ways = Array.from({ length: 4 }, (_, i) => ({ name: 'liar', lie: () => `own ${i}` }))
  const { accounts, tasks } = runDrilling({ crypto, seed: 'all', ways, epochs: 3, params: { strictDrilling: 1n } })
  expect(tasks.length).toBeGreaterThan(0)
  expect(accounts.every(({ credits }) => credits === 0)).toBe(true)
})
