import type { Step } from '../../apps/validator/verifyBox.ts'
import { boxWords, faultWords } from '../../core/bytes/boxWords.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import { type PlannedPart, partRole } from '../../core/proof/partKinds.ts'
import { secondsBehind } from '../../core/proof/planPart.ts'
import { formatBytes, formatSeconds } from '../../core/units/format.ts'
import { partName } from './partName.ts'
import type { Terminal } from './terminal.ts'

const SAID: Partial<Record<Step['step'], string>> = {
  connect: 'connecting',
  install: 'installing the prover',
  detect: 'asking what the box has',
  calibrate: 'calibrating (only sets the sizes; its result is discarded)',
  host: 'measuring the processor, memory and disk of the box',
  again: 'a part ended too soon to count: running it again, for longer',
}

/** Progress of a run: one bar with the time elapsed and left on a terminal, one plain line a part in a pipe. */
export function showSteps(terminal: Terminal, nowMs: () => number = () => performance.now()): (step: Step) => void {
  const startedMs = nowMs()
  const elapsed = () => minutes((nowMs() - startedMs) / 1000)
  let phase = ''
  const start = (name: string) => {
    if (name !== phase) terminal.line(`  ${terminal.colours.dim('·')} ${name}`)
    phase = name
  }
  const show = (name: string, share: number, left: string) => {
    if (terminal.isLive)
      terminal.live(`  ${bar(share, Math.min(30, terminal.columns - 56))} ${name}, ${elapsed()} elapsed${left}`)
    else start(name)
  }
  return (step) => {
    if (step.step === 'detected') {
      for (const text of deviceTexts(step.inventory)) terminal.line(`    ${terminal.colours.dim('claimed:')} ${text}`)
      const { gpuAbsent } = step.inventory.host
      if (gpuAbsent !== undefined) terminal.line(`    no GPU, as the box says: ${boxWords(String(gpuAbsent))}`)
      terminal.line(`    round trip ${formatSeconds(step.roundTripSeconds)}`)
    } else if (step.step === 'compute') {
      const { part } = step.progress
      const { share, leftSeconds } = howFar(step)
      show(`part ${numbers(step.parts, part)}: ${partName(step.parts, part)}`, share, `, ${minutes(leftSeconds)} left`)
    } else if (step.step === 'lost') {
      terminal.line(`  ${terminal.colours.yellow('!')} a device failed, as the box says: ${faultWords(step.fault)}`)
      start('continuing with the remaining devices')
    } else if (step.step === 'verify') show('checking the answers on this machine', step.done / step.of, '')
    else if (step.step !== 'check') start(SAID[step.step] ?? step.step)
  }
}

/** Equal devices in one line. */
function deviceTexts({ devices }: Inventory): string[] {
  const texts = devices.map(({ name, memoryBytes }) => `${boxWords(name)}, ${formatBytes(memoryBytes)}`)
  return [...new Set(texts)].map((text) => `${texts.filter((other) => other === text).length} x ${text}`)
}

/** By how long each part was expected to take: a box that is slower than it was in its calibration shows in `left`. */
function howFar({ parts, progress }: Extract<Step, { step: 'compute' }>) {
  const { part, phase, done, of } = progress
  const seconds = parts.map(secondsBehind)
  const sum = (list: readonly number[]) => list.reduce((total, one) => total + one, 0)
  // The openings of a part come after its work, and take next to no time.
  const ofPart = phase === 'openings' ? 1 : done / of
  const doneSeconds = sum(seconds.slice(0, part)) + ofPart * seconds[part]!
  const all = sum(seconds)
  return { share: doneSeconds / all, leftSeconds: all - doneSeconds }
}

/** Parts of single cards are one step for whoever watches. */
function numbers(parts: readonly PlannedPart[], p: number): string {
  const role = partRole(parts, p)
  const [first, last] =
    role === 'alone' ? [parts.findIndex((_, i) => partRole(parts, i) === role), parts.length - 1] : [p, p]
  return `${first + 1}${last > first ? ` to ${last + 1}` : ''} of ${parts.length}`
}

/** 1:05. */
function minutes(seconds: number): string {
  const whole = Math.ceil(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}

export function bar(share: number, width: number): string {
  const most = Math.max(4, width)
  const full = Math.round(Math.min(1, Math.max(0, share)) * most)
  return '█'.repeat(full) + '░'.repeat(most - full)
}
