import { atMost, type Finding, holds, type Report } from '../models/report.ts'
import { keyChoice, scoring, washDrilling } from './chainAttacks.ts'
import { type AttackSetting, forging, griefing, renting, sharing, trustThenCheat, withholding } from './drillAttacks.ts'

/** Every attack that runs on the state transition itself, with real transactions in real blocks. */
export const ATTACKS: readonly ((setting: AttackSetting) => Finding[])[] = [
  griefing,
  withholding,
  forging,
  sharing,
  trustThenCheat,
  renting,
  scoring,
  washDrilling,
  keyChoice,
]

/** All attacks, each with so many seeds; of each finding the worst. */
export function adversaries(
  setting: AttackSetting,
  seeds: number,
  onDone?: (done: number, of: number) => void,
): Report {
  let done = 0
  const findings = ATTACKS.flatMap((attack) => {
    const runs = Array.from({ length: seeds }, (_, i) => {
      const run = attack({ ...setting, seed: seeds === 1 ? setting.seed : `${setting.seed}/${i}` })
      onDone?.(++done, seeds * ATTACKS.length)
      return run
    })
    return runs[0]!.map((_, at) => runs.map((run) => run[at]!).reduce(worse))
  })
  return {
    name: 'adversaries',
    findings: [
      ...findings,
      atMost('attacks that gained more than the table says', findings.filter((each) => !holds(each)).length, 0),
    ],
    charts: [],
  }
}

function worse(a: Finding, b: Finding): Finding {
  const marginOf = ({ measured, limit }: Finding) =>
    'atMost' in limit ? limit.atMost - measured : measured - limit.atLeast
  return marginOf(b) < marginOf(a) ? b : a
}
