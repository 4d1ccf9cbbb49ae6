import { join } from 'node:path'
import type { Command } from 'commander'
import { type Finding, holds, type Report } from '../../apps/simulate/models/report.ts'
import { SCENARIOS } from '../../apps/simulate/scenarios.ts'
import { type SimulatedCrypto, standInCrypto } from '../../apps/simulate/standIns.ts'
import { signerFrom } from '../../core/bytes/ed25519.ts'
import { useFastTrees } from '../../drivers/hashtree/useFastTrees.ts'
import { openVrf } from '../../drivers/sodium/openVrf.ts'
import { writeAside } from '../../drivers/system/writeAside.ts'
import { EXIT } from '../exitCodes.ts'
import { readOneOf, readWhole, refuseUnused } from '../parseOptions.ts'
import { labelled } from '../render/labelled.ts'
import { bar } from '../render/showSteps.ts'
import { openTerminal, type Terminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { drawChart } from './drawChart.ts'

interface SimulateFlags {
  readonly seed: string
  readonly seeds?: number
  readonly nodes: number
  readonly slots?: number
  readonly whole?: boolean
  readonly real?: boolean
  readonly out?: string
  readonly json?: boolean
}

const NAMES = ['all', ...Object.keys(SCENARIOS)]
const MEANINGS = Object.fromEntries(NAMES.map((name) => [name, name === 'all' ? NAMES.slice(1) : [name]]))

export function addSimulateCommand(program: Command, context: CommandContext): void {
  program
    .command('simulate')
    .description('many nodes in this process: how the chain stands up to weight, silence and liars')
    .argument('<what>', NAMES.join(', '), readOneOf(MEANINGS, `Use one of ${NAMES.join(', ')}.`))
    .option('--seed <text>', 'chance; the same seed leads to the same events', '1')
    .option('--seeds <count>', 'byzantine, joining, adversaries: how many seeds', readWhole(1, 1_000_000))
    .option('--nodes <count>', 'large: how many nodes', readWhole(4, 2000), 200)
    .option(
      '--slots <count>',
      'slots (drilling: tasks, adversaries: epochs) instead of the usual number',
      readWhole(10, 10_000_000),
    )
    .option('--whole', 'byzantine: with transfers, rewards and slashing under it')
    .option('--real', 'real signatures and VRF proofs instead of keyed hashes: slow')
    .option('--out <folder>', 'write the pictures there, as SVG files')
    .option('--json', 'print findings and charts as JSON')
    .addHelpText('after', AFTER_HELP)
    .action((names: readonly string[], flags: SimulateFlags, command: Command) => {
      for (const [option, users] of Object.entries(USERS))
        if (!names.some((name) => users.includes(name))) refuseUnused(command, [option], `for ${names.join(', ')}`)
      return context.run((signal) => simulate(names, flags, context, signal))
    })
}

const besides = (...names: readonly string[]) => Object.keys(SCENARIOS).filter((name) => !names.includes(name))

/** Which scenarios an option is for. */
const USERS: Readonly<Record<string, readonly string[]>> = {
  seeds: ['byzantine', 'joining', 'adversaries'],
  nodes: ['large'],
  whole: ['byzantine'],
  slots: Object.keys(SCENARIOS).filter((name) => SCENARIOS[name]!.slots > 0),
  seed: besides('economy'),
  real: besides('drilling', 'scores', 'economy'),
  out: besides('byzantine', 'adversaries'),
}

const NAME_WIDTH = Math.max(...Object.keys(SCENARIOS).map((name) => name.length)) + 4

const AFTER_HELP = `
${Object.entries(SCENARIOS)
  .flatMap(([name, { about }]) => labelled(name, about, NAME_WIDTH, 80))
  .join('\n')}

Ends with 0 if everything held, 1 if something did not.

Examples:
  touchstone simulate finality --out pictures
  touchstone simulate byzantine --seeds 1000`

async function simulate(
  names: readonly string[],
  flags: SimulateFlags,
  { env }: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const terminal = openTerminal(process.stdout, env)
  await useFastTrees()
  const crypto = flags.real ? await realCrypto() : standInCrypto()
  if (!flags.json) terminal.line(terminal.colours.dim(`  seed ${flags.seed}; ${crypto.name}`))
  const reports: (Report & { readonly processorSeconds: number })[] = []
  for (const name of names) {
    signal.throwIfAborted()
    const before = process.cpuUsage()
    const report = run(name, crypto, flags, terminal)
    const { user, system } = process.cpuUsage(before)
    const processorSeconds = Math.round((user + system) / 1e4) / 100
    reports.push({ ...report, processorSeconds })
    if (!flags.json) showReport(report, processorSeconds, terminal)
    if (flags.out !== undefined) writeCharts(report, flags.out)
  }
  const held = reports.every(({ findings }) => findings.every(holds))
  if (flags.json)
    process.stdout.write(`${JSON.stringify({ seed: flags.seed, cryptography: crypto.name, held, reports })}\n`)
  return held ? EXIT.genuine : EXIT.rejected
}

function run(name: string, crypto: SimulatedCrypto, flags: SimulateFlags, terminal: Terminal): Report {
  const scenario = SCENARIOS[name]!
  const { seed, seeds = scenario.seeds ?? 1, nodes, slots = scenario.slots, whole = false } = flags
  const onProgress = (done: number, of: number) => {
    if (!flags.json) terminal.live(`  ${bar(done / of, terminal.barWidth)} run ${done} of ${of}`)
  }
  return scenario.run({ crypto, seed, seeds, nodes, slots, isWhole: whole, onProgress })
}

async function realCrypto(): Promise<SimulatedCrypto> {
  const { vrf, checkSignature, name } = await openVrf()
  return { name: `real signatures and VRF proofs (${name})`, vrf, checkSignature, signerFrom }
}

function showReport({ name, findings, charts }: Report, seconds: number, { line, colours, barWidth }: Terminal): void {
  line(`  ${colours.bold(name)} ${colours.dim(`${seconds} s of processor time`)}`)
  for (const finding of findings) {
    const mark = holds(finding) ? colours.green('✓') : colours.red('✗')
    line(
      `  ${mark} ${shown(finding.measured).padStart(9)}  ${colours.dim(limitText(finding).padEnd(17))} ${finding.says}`,
    )
  }
  for (const { title, lines, y } of charts) {
    line(`    ${colours.dim(`${title} (${y})`)}`)
    const points = lines.flatMap((each) => thinned(each.points).map((point) => ({ name: each.name, point })))
    const most = Math.max(...points.map(({ point }) => point[1]), Number.MIN_VALUE)
    for (const { name: label, point } of points)
      line(`    ${shown(point[0]).padStart(8)} ${bar(point[1] / most, barWidth)} ${shown(point[1])} ${label}`)
  }
}

/** At most ten points of a line: a terminal is not a picture. */
function thinned<T>(points: readonly T[]): readonly T[] {
  const step = Math.ceil(points.length / 10)
  return points.filter((_, i) => i % step === 0)
}

const shown = (value: number): string => String(Number(value.toPrecision(4)))
const limitText = ({ limit }: Finding): string =>
  'atMost' in limit ? `at most ${shown(limit.atMost)}` : `at least ${shown(limit.atLeast)}`

function writeCharts({ charts }: Report, folder: string): void {
  for (const chart of charts) writeAside(join(folder, `${chart.name}.svg`), drawChart(chart))
}
