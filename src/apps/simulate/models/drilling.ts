import { type Chance, xoshiro } from '../xoshiro.ts'
import { atLeast, atMost, type Finding, type Report } from './report.ts'

/** Who answers a task: honest, absent, or a liar. Liars of one pool agree on one wrong result. */
type Answer = 'right' | 'wrong'

export interface DrillingRules {
  readonly isStrict: boolean
  readonly replicas: number
  readonly most: number
  /** Share of capacity that lies; of honest replicas that miss their commit, and that miss an appeal. */
  readonly liars: number
  readonly absent: number
  readonly deaf: number
}

export interface Decision {
  readonly outcome: 'valid' | 'forged' | 'void'
  /** Replicas that computed, and epochs from the draw to the decision. */
  readonly replicas: number
  readonly epochs: number
  readonly appealed: boolean
}

/** Epochs of §5.2 from a draw to its decision, of an appeal, and of the search to one patch in it. */
const ROUND_EPOCHS = 6
const APPEAL_EPOCHS = 24

/** One task by §5.2, phase by phase. */
export function drillTask(rules: DrillingRules, chance: Chance): Decision {
  const answers: Answer[] = []
  let epochs = 0
  let appealed = false
  const draw = (count: number) => {
    // Who misses its commit is drawn again in e + 2; who misses that too is not waited for.
    for (let i = 0; i < count; i++)
      if (chance.unit() >= rules.absent || chance.unit() >= rules.absent)
        answers.push(chance.unit() < rules.liars ? 'wrong' : 'right')
    epochs += ROUND_EPOCHS
  }
  for (let tries = 0; answers.length < 2; tries++) {
    if (tries === 3) return { outcome: 'void', replicas: answers.length, epochs, appealed }
    answers.length = 0
    draw(rules.replicas)
  }
  const end = (outcome: Decision['outcome']): Decision => ({ outcome, replicas: answers.length, epochs, appealed })
  const wrongs = () => answers.filter((answer) => answer === 'wrong').length
  const isOne = () => wrongs() === 0 || wrongs() === answers.length
  if (isOne()) return end(wrongs() === 0 ? 'valid' : 'forged')
  if (rules.isStrict) return end('void')
  const leads = (count: number) => count >= 3 && count >= Math.ceil((2 * answers.length) / 3)
  while (!leads(wrongs()) && !leads(answers.length - wrongs()) && answers.length < rules.most)
    draw(Math.min(2, rules.most - answers.length))
  // A class that does not lead has a day to appeal: the search ends at one patch, and only a right result can show it.
  epochs += APPEAL_EPOCHS
  const rights = answers.length - wrongs()
  if (leads(rights)) return end('valid')
  appealed = true
  const isHeard = Array.from({ length: rights }).some(() => chance.unit() >= rules.deaf)
  if (isHeard) return end('valid')
  return end(leads(wrongs()) ? 'forged' : 'void')
}

interface Shares {
  readonly voided: number
  readonly forged: number
  readonly appealed: number
  readonly replicas: number
  readonly epochs: readonly number[]
}

const USUAL: DrillingRules = { isStrict: false, replicas: 3, most: 7, liars: 0.05, absent: 0.02, deaf: 0.05 }

export function drillMany(rules: Partial<DrillingRules>, tasks: number, seed: string): Shares {
  const chance = xoshiro(seed)
  const all = Array.from({ length: tasks }, () => drillTask({ ...USUAL, ...rules }, chance))
  const share = (count: number) => count / tasks
  return {
    voided: share(all.filter(({ outcome }) => outcome === 'void').length),
    forged: share(all.filter(({ outcome }) => outcome === 'forged').length),
    appealed: share(all.filter(({ appealed }) => appealed).length),
    replicas: share(all.reduce((sum, { replicas }) => sum + replicas, 0)),
    epochs: all.map(({ epochs }) => epochs).sort((a, b) => a - b),
  }
}

/**
 * Trust, then cheat: a pair of colluding replicas forges the tasks that fall to both. An audit by somebody else comes with
 * 1/8 and ends in fraud, which costs both their power. Weight per task computed, an honest account being 1.
 */
export function trustedPair(share: number, tasksADay: number, days: number, seed: string): number {
  const chance = xoshiro(seed)
  const kept = 2 ** (-1 / 7)
  const one = () => {
    let [cheat, honest, computed, trustedFrom] = [0, 0, 0, 0]
    let sum = 0
    for (let day = 0; day < days; day++) {
      const forged = day >= trustedFrom ? tasksADay * share : 0
      computed += tasksADay - forged
      cheat = cheat * kept + tasksADay * (1 - kept)
      honest = honest * kept + tasksADay * (1 - kept)
      // Each forged task is audited by somebody outside the pool with 1/8 (1 - share).
      const caught = 1 - (1 - (1 - share) / 8) ** forged
      if (chance.unit() < caught) {
        cheat = 0
        // A week out, and ten valid tasks in a row before it is trusted again.
        trustedFrom = day + 7 + 10 / tasksADay
      }
      sum += day < trustedFrom - 10 / tasksADay ? 0 : cheat
    }
    return sum / days / (computed / days / tasksADay) / (honest > 0 ? tasksADay : 1)
  }
  const runs = 200
  return Array.from({ length: runs }, one).reduce((a, b) => a + b, 0) / runs
}

const quantile = (sorted: readonly number[], share: number): number => sorted[Math.floor(share * (sorted.length - 1))]!

/** Griefing, forging, appeals and how long it all takes. */
export function drilling(seed: string, tasks: number): Report {
  const [strict, usual] = [drillMany({ isStrict: true, absent: 0 }, tasks, seed), drillMany({}, tasks, seed)]
  const third = drillMany({ liars: 1 / 3 }, tasks, `${seed}/third`)
  const heard = drillMany({ liars: 1 / 3, deaf: 0 }, tasks, `${seed}/heard`)
  const liars = [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.33]
  const sweep = (rules: Partial<DrillingRules>, of: (shares: Shares) => number) =>
    liars.map((share) => [share, of(drillMany({ ...rules, liars: share }, tasks / 10, `${seed}/${share}`))] as const)
  return {
    name: 'drilling',
    findings: [...griefing(strict, usual), ...forging(third, heard), ...timeline(usual), ...trust(seed)],
    charts: [
      {
        name: 'griefing',
        title: 'Tasks voided by liars',
        x: 'share of capacity that lies',
        y: 'share of tasks voided',
        lines: [
          {
            name: 'strict: all agree or all lose',
            points: sweep({ isStrict: true, absent: 0 }, ({ voided }) => voided),
          },
          { name: 'default: fresh replicas, appeal', points: sweep({}, ({ voided }) => voided) },
        ],
      },
    ],
  }
}

const griefing = (strict: Shares, usual: Shares): Finding[] => [
  atLeast('5 % liars, strict mode: share of tasks voided', strict.voided, 0.135),
  atMost('5 % liars, strict mode: share of tasks voided', strict.voided, 0.15),
  atMost('5 % liars, default: share of tasks voided', usual.voided, 0.01),
  atMost('5 % liars, default: replicas that compute a task', usual.replicas, 3.4),
]

const forging = (third: Shares, heard: Shares): Finding[] => [
  atMost('a third lies, every honest replica appeals: share forged is a third to the third', heard.forged, 0.041),
  atMost('a third lies, 5 % of honest replicas miss an appeal: share forged', third.forged, 0.045),
  atMost('a third lies: share of tasks that go to an appeal', third.appealed, 0.35),
]

const timeline = ({ epochs }: Shares): Finding[] => [
  atMost('5 % liars, 2 % absent: epochs until half of the tasks are decided', quantile(epochs, 0.5), ROUND_EPOCHS),
  atMost('the same: epochs until 99 % are decided', quantile(epochs, 0.99), 3 * ROUND_EPOCHS + APPEAL_EPOCHS),
  atMost(
    'the same: epochs until the last is decided',
    quantile(epochs, 1),
    3 * ROUND_EPOCHS + 3 * ROUND_EPOCHS + APPEAL_EPOCHS,
  ),
]

const trust = (seed: string): Finding[] =>
  [0.1, 0.33].flatMap((share) =>
    [2, 24].map((rate) =>
      atMost(
        `trust then cheat, ${share} of capacity, ${rate} tasks a day: weight per task computed, honest 1`,
        trustedPair(share, rate, 400, seed),
        1,
      ),
    ),
  )
