import { type BenchRun, runBench } from '../../apps/bench/runBench.ts'
import { requireClaim } from '../../apps/shared/requireClaim.ts'
import { BENCH_FORMAT, type BenchDevice, type BenchReport } from '../../core/bench/benchReport.ts'
import { changesBetween, notCompared, slowerThanBefore } from '../../core/bench/compareRuns.ts'
import { benchVerdict, judgeBench, problem } from '../../core/bench/judgeBench.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import type { Claim } from '../../core/identify/parseClaim.ts'
import { PRECISION_NAMES, type Precision } from '../../core/params/precision.ts'
import { BACK_ENDS } from '../../drivers/gpu/backEnds.ts'
import { namesEveryCard, openDevices } from '../../drivers/gpu/openDevices.ts'
import { ensureApart, writeAside } from '../../drivers/system/writeAside.ts'
import type { Device } from '../../ports/device.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { soldText } from '../render/answer.ts'
import { openTerminal } from '../render/terminal.ts'
import { pageStyle } from '../report/page.ts'
import { type CommandContext, faultOf, tellFault } from '../run.ts'
import { readCatalogue, system } from '../system.ts'
import { programName } from '../version.ts'
import { benchLines } from './benchLines.ts'
import { benchPage } from './benchPage.ts'
import { earlierRun, keepRun } from './lastRun.ts'

export interface BenchFlags {
  readonly precisions?: readonly Precision[]
  readonly seconds: number
  readonly size?: number
  readonly devices: string
  readonly claim?: string
  readonly against?: string
  readonly tolerance: number
  readonly html?: string
  readonly json?: boolean
}

const EXIT_OF = { pass: EXIT.genuine, fail: EXIT.rejected, 'not-judged': EXIT.notEstablished } as const

/** Measures the devices of this machine, judges them, compares them with an earlier run, and shows it. */
export async function bench(flags: BenchFlags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const progress = openTerminal(process.stderr, env)
  const catalogue = await readCatalogue()
  const claim = flags.claim === undefined ? null : requireClaim(flags.claim, catalogue)
  ensureApart([flags.html], [flags.against])
  const earlier = earlierRun(flags.against, env)
  const { devices, faults, absent } = await openAll(flags)
  try {
    const hasCard = devices.some(({ facts }) => facts.class === 'gpu')
    if (claim && !hasCard) {
      const why = absent.join('; ') || 'only the CPU was asked for'
      throw fault('NO_GPU_TO_BENCH', { claimed: soldText(flags.claim!, catalogue), why })
    }
    for (const one of absent) progress.line(`  no GPU: ${one}; measuring the CPU`)
    const onStep = (text: string) => progress.live(`  measuring: ${text}`)
    const startedAt = system.clock.wallTime().toISOString()
    const began = system.clock.monotonicUs()
    const { precisions = PRECISION_NAMES, seconds: wanted, size } = flags
    const asked = { ...system, precisions, seconds: wanted, ...(size !== undefined && { size }), onStep }
    const run = await runBench(devices, asked, signal)
    progress.live('')
    faults.push(...run.faults)
    if (run.devices.length === 0) throw faults[0]
    const seconds = (system.clock.monotonicUs() - began) / 1e6
    const failed = faults.map((one) => faultOf(one).code)
    const report = reportOf(run, { startedAt, seconds, claim, catalogue, earlier, failed, flags })
    keepRun(report, env)
    show(report, flags, env)
    for (const one of faults) tellFault(one, flags.json)
    return EXIT_OF[report.verdict]
  } finally {
    progress.live('')
    await Promise.all(devices.map((device) => device.close()))
  }
}

async function openAll({ devices: list }: BenchFlags) {
  const faults: unknown[] = []
  const absent: string[] = []
  const devices: readonly Device[] = await openDevices(
    list,
    (one) => faults.push(one),
    BACK_ENDS,
    // The first clause of its words says it.
    (one) => absent.push(faultOf(one).message.split(';')[0]!),
  )
  return { devices, faults, absent }
}

interface Circumstances {
  readonly startedAt: string
  readonly seconds: number
  readonly claim: Claim | null
  readonly catalogue: Catalogue
  readonly earlier: BenchReport | null
  /** Codes of the faults of cards that are left out. */
  readonly failed: readonly string[]
  readonly flags: BenchFlags
}

export function reportOf(run: BenchRun, circumstances: Circumstances): BenchReport {
  const { startedAt, seconds, claim, catalogue, earlier, failed, flags } = circumstances
  const judged = judgeBench(run.devices, claim, catalogue)
  const { devices } = judged
  const now = { devices, links: run.links }
  const changes = earlier && changesBetween(earlier, now)
  // The last run is shown beside this one; only who names a run asks to be held to it.
  const isHeld = earlier !== null && changes !== null && flags.against !== undefined
  const slower = isHeld ? slowerThanBefore(changes, flags.tolerance / 100) : []
  // Who asks for some cards has not lost the others.
  const isAsked = ({ backEnd }: BenchDevice) => namesEveryCard(flags.devices, backEnd)
  const { precisions = PRECISION_NAMES } = flags
  const uncompared = isHeld ? notCompared(earlier, now, changes, precisions, isAsked) : []
  const notes = [...uncompared, ...judged.notes]
  const lost = failed.map((got) => problem('CARD_FAILED', { device: null, figure: 'error', got }))
  const problems = [...lost, ...judged.problems, ...slower]
  return {
    format: BENCH_FORMAT,
    kind: 'bench',
    verdict: benchVerdict({ devices, problems, notes }),
    program: programName,
    startedAt,
    seconds: Math.round(seconds * 10) / 10,
    devices,
    links: run.links,
    problems,
    notes,
    against: earlier && { startedAt: earlier.startedAt, changes: changes ?? [], tolerance: flags.tolerance / 100 },
  }
}

function show(report: BenchReport, { html, json }: BenchFlags, env: NodeJS.ProcessEnv): void {
  if (html !== undefined) writeAside(html, benchPage(report, pageStyle()))
  if (json) return void process.stdout.write(`${JSON.stringify(report)}\n`)
  const people = openTerminal(process.stdout, env)
  people.lines(benchLines(report, people))
  if (html !== undefined) people.line(`  page           ${html}`)
}
