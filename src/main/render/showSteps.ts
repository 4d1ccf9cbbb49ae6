import type { Step } from '../../apps/validator/verifyBox.ts'
import { kindOf, type PlannedPart } from '../../core/proof/partKinds.ts'
import { formatBytes, formatSeconds } from '../../core/units/format.ts'
import type { Terminal } from './terminal.ts'

const SAID: Partial<Record<Step['step'], string>> = {
  connect: 'connecting',
  install: 'installing the prover',
  detect: 'asking what the box has',
  calibrate: 'calibrating (only sets the sizes; its result is discarded)',
  host: 'measuring the processor, memory and disk of the box',
  again: 'a part ended too soon to count: running it again, for longer',
}

/** Progress of a run: one live line on a terminal, one plain line a phase in a pipe. */
export function showSteps(terminal: Terminal): (step: Step) => void {
  let phase = ''
  const start = (name: string) => {
    if (name !== phase) terminal.line(`  ${terminal.colours.dim('·')} ${name}`)
    phase = name
  }
  return (step) => {
    if (step.step === 'detected') {
      for (const [i, device] of step.inventory.devices.entries())
        terminal.line(
          `    device ${i}: ${device.name}, ${formatBytes(device.memoryBytes)} ${terminal.colours.dim('(claimed)')}`,
        )
      terminal.line(`    round trip ${formatSeconds(step.roundTripSeconds)}`)
    } else if (step.step === 'compute') {
      const { part, phase: what, done, of } = step.progress
      start(partName(step.parts, part))
      terminal.live(`    ${what} ${bar(done / of, terminal.barWidth)} ${done}/${of}`)
    } else if (step.step === 'lost') {
      terminal.line(`  ${terminal.colours.yellow('!')} ${step.fault.text} [${step.fault.code}]`)
      start('continuing with the remaining devices')
    } else if (step.step === 'verify') {
      start('verifying the openings on this machine')
      terminal.live(`    ${bar(step.done / step.of, terminal.barWidth)} ${step.done}/${step.of}`)
    } else start(SAID[step.step] ?? step.step)
  }
}

function partName(parts: readonly PlannedPart[], p: number): string {
  const part = parts[p]!
  const size = `m = n = ${part.m}, k = ${part.k}`
  const { label, name, phases } = kindOf(part)
  const counted = `${part.rounds} ${phases.at(-1)!.name}`
  return `part ${p + 1} of ${parts.length}: ${label?.(part) ?? name}, ${size}, ${counted}`
}

export function bar(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width)
  return '█'.repeat(full) + '░'.repeat(width - full)
}
