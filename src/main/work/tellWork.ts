import type { WorkRejected } from '../../apps/work/proverLine.ts'
import type { WorkStep } from '../../apps/work/workListener.ts'
import { boxWords } from '../../core/bytes/boxWords.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { DOUBTS, type Doubt } from '../../core/certificate/doubts.ts'
import { withPrefix } from '../../core/units/format.ts'
import { floatOf } from '../../core/work/ops/shapes.ts'
import { WORK_REFUSALS, type WorkRefusal } from '../../core/work/refusals.ts'
import { operationsOfWork, type Work } from '../../core/work/work.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import { quoteForShell } from '../../drivers/remote/ssh/quoteForShell.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { doubtText } from '../render/answer.ts'
import { labelled, labelledCommand } from '../render/labelled.ts'
import { bar } from '../render/showSteps.ts'
import { openTerminal, type Terminal } from '../render/terminal.ts'
import { courseJson, courseLines, courseOf, shortNumber } from './figures.ts'
import type { Delivery, RunFlags } from './runWork.ts'
import type { Shown } from './workMethods.ts'

export function refusedWork({ code, message }: WorkRefusal): Error {
  const { meaning, nextStep } = WORK_REFUSALS[code]
  return fault('WORK_REFUSED', { why: `${meaning} (${message})`, code, nextStep })
}

/** What was not shown is not delivered. */
export function reject({ code, message }: WorkRejected, { json }: RunFlags, people: Terminal): number {
  const isOpen = code === 'REFUSED_UNSEEN'
  if (json)
    process.stdout.write(`${JSON.stringify({ [isOpen ? 'notEstablished' : 'rejected']: code, why: message })}\n`)
  else
    people.lines([
      // Below a text that was told as it came.
      '',
      ...labelled(isOpen ? 'OPEN' : 'REJECTED', `${message} [${code}]`),
      ...labelled('now', `nothing was written: ${isOpen ? AFTER_REFUSAL : 'do not pay for it; run it elsewhere'}`),
    ])
  return isOpen ? EXIT.notEstablished : EXIT.rejected
}

const AFTER_REFUSAL =
  'the box may be right; run it on another, and if that says so too, change the parameters or inputs'

/** What became of a segment once the last state was in. */
const PROVING = {
  trace: 'is run again with trace',
  said: 'is committed to, for its proof by sumcheck',
  proof: 'is proven by sumcheck; what was drawn is checked here',
} as const satisfies Readonly<Record<Exclude<WorkStep['step'], 'segment'>, string>>

/** Progress with the time left, and the first figure of a transition where it has one. */
export function showWork(terminal: Terminal, { ends, spec, figures }: Work<WorkKernels>): (step: WorkStep) => void {
  const startedMs = performance.now()
  return (step) => {
    if (step.step !== 'segment') return terminal.live(`  proving: segment ${step.done + 1} ${PROVING[step.step]}`)
    const done = step.segment + 1
    const leftSeconds = ((performance.now() - startedMs) / 1000 / done) * (ends.length - done)
    const [bits] = step.mark?.statistics ?? []
    const figure = bits === undefined || figures[0] === undefined ? '' : `, ${figures[0]} ${shortNumber(floatOf(bits))}`
    terminal.live(
      `  ${bar(done / ends.length, terminal.barWidth)} ${spec.kind} ${done}/${ends.length}${figure}, ${Math.ceil(leftSeconds)} s left`,
    )
  }
}

const DEAD_WORK = { code: 'DEAD_WORK' } as const
const RESULT_NOT_SHOWN = { code: 'RESULT_NOT_SHOWN' } as const

/**
 * As a check of its receipt ends (attack 225), and of its result (attack 448). Two keys of one place are one witness, and no
 * number of witnesses is enough against one that fell silent (attack 510). Replicas take the places in turn.
 */
export function doubtsOf(
  shown: Pick<Shown, 'agreed' | 'credited' | 'isOpen' | 'isReplayed' | 'product'>,
  places: readonly string[],
): Doubt[] {
  const witnesses = new Set(shown.agreed.map((i) => places[i % places.length]!))
  const isOurs = witnesses.has('local') || shown.product !== undefined || shown.isReplayed
  const isDoubted = !isOurs && (shown.isOpen || witnesses.size < 2)
  return [...(shown.credited > 0 ? [] : [DEAD_WORK]), ...(isDoubted ? [RESULT_NOT_SHOWN] : [])]
}

type ToldWork = Shown & { readonly doubts: readonly Doubt[] }

export function tell(
  flags: RunFlags,
  work: Work<WorkKernels>,
  { device, elapsedUs, marks, isReplayed, looked, credited, replicas, disputes, product, evidence, doubts }: ToldWork,
  { tied, given = [] }: Pick<Delivery, 'tied' | 'given'>,
  env: NodeJS.ProcessEnv,
): void {
  const operations = operationsOfWork(work)
  const { out, receipt } = flags
  const seconds = elapsedUs / 1e6
  const course = courseOf(work, marks, isReplayed)
  if (flags.json) {
    const told = {
      kind: work.spec.kind,
      transitions: work.spec.transitions,
      operations,
      credited,
      ...courseJson(course),
      seconds,
      device,
      replicas,
      disputes,
      doubts: doubts.map(({ code }) => code),
      out,
      receipt,
      ...(evidence ? { evidence: flags.evidence } : {}),
    }
    return void process.stdout.write(`${JSON.stringify(told)}\n`)
  }
  // Which result is right a replay alone shows.
  const inputs = product || flags.inputs === undefined ? [] : ['--replay', flags.inputs]
  const canCompare = product !== undefined || inputs.length > 0
  const operands = product?.codes?.map((code) => ['--code', toHex(code)]) ?? given.map((file) => ['--given', file])
  const checkOf = (...words: readonly string[]) => quoteForShell(['touchstone', 'check', ...words])
  openTerminal(process.stdout, env).lines([
    ...labelled(
      'done',
      `${work.spec.kind}, ${work.spec.transitions} transitions, ${withPrefix(credited).trim()} operations credited of ${withPrefix(operations).trim()}`,
    ),
    ...doubts.flatMap((doubt) => labelled('but', `${doubtText(doubt)}. ${DOUBTS[doubt.code].nextStep}`)),
    ...courseLines(course),
    ...labelled('device', `claimed: ${boxWords(device)}; ${seconds.toFixed(1)} s from the seed to the last state`),
    ...labelled('looked at', looked),
    ...labelled('replicas', replicas),
    ...labelled('result', out),
    ...labelled('receipt', receipt),
    ...labelled('evidence', evidence ? flags.evidence : null),
    ...labelledCommand('check it', checkOf(receipt, ...(canCompare ? [...inputs, ...operands.flat(), ...tied] : []))),
    ...labelledCommand('', evidence ? checkOf(flags.evidence, '--receipt', receipt) : null),
    ...labelled(
      '',
      canCompare
        ? null
        : `which shows that work was done, not that ${out} is right: for that run it with --inputs FOLDER`,
    ),
  ])
}
