import { expect, test } from 'vitest'
import type { Step } from '../../apps/validator/verifyBox.ts'
import { claimed } from '../../core/params/provenance.ts'
import type { PlannedPart } from '../../core/proof/partKinds.ts'
import { showSteps } from './showSteps.ts'
import { openTerminal } from './terminal.ts'

function watching(isTTY: boolean) {
  let written = ''
  const write = (text: string) => {
    written += text
    return true
  }
  let nowMs = 0
  const terminal = openTerminal({ isTTY, columns: 80, write } as NodeJS.WriteStream, { NO_COLOR: '1' })
  const step = showSteps(terminal, () => nowMs)
  return { step, written: () => written, after: (seconds: number) => (nowMs += 1000 * seconds) }
}

/** Two cards: ten seconds of bf16, then a second of each card alone. */
const part = (mask: number, seconds: number): PlannedPart => ({
  ...{ kind: 'rounds', precision: 'bf16', m: 64, n: 64, k: 64, rounds: 10, openings: 1, openLimitMs: 1, kept: [0, 0] },
  mask,
  limitMs: 60_000 + 5_000 * seconds,
})
const parts = [part(3, 10), part(1, 1), part(2, 1)]
const compute = (p: number, done: number): Step => ({
  step: 'compute',
  parts,
  progress: { part: p, phase: 'rounds', device: 0, done, of: 10 },
})

test('on a terminal one bar tells how far the run is, how long it took and how long it will take', () => {
  const { step, written, after } = watching(true)
  step(compute(0, 0))
  after(65)
  step(compute(0, 6))
  expect(written().split('\r').at(-1)).toBe(
    '\u001b[2K  ████████████░░░░░░░░░░░░ part 1 of 3: bf16 speed, 1:05 elapsed, 0:06 left',
  )
  expect(written()).not.toContain('\n')
})

test('in a pipe it is one plain line a part, and all cards alone are one', () => {
  const { step, written } = watching(false)
  for (const p of [0, 0, 1, 2]) step(compute(p, 5))
  step({ step: 'verify', done: 1, of: 2 })
  expect(written()).toBe(
    ['part 1 of 3: bf16 speed', 'part 2 to 3 of 3: each card alone', 'checking the answers on this machine']
      .map((line) => `  · ${line}\n`)
      .join(''),
  )
})

test('equal cards are one line of the inventory', () => {
  const { step, written } = watching(false)
  const device = { name: 'NVIDIA H200', memoryBytes: 2 ** 37 }
  const inventory = claimed({ devices: [device, device], host: {} })
  step({ step: 'detected', inventory: inventory as never, roundTripSeconds: 0.001 })
  expect(written()).toContain('    claimed: 2 x "NVIDIA H200", 128.0 GiB\n')
})

test('a box without cards says why it has none', () => {
  const { step, written } = watching(false)
  const device = { name: 'a CPU', memoryBytes: 2 ** 34 }
  const inventory = claimed({ devices: [device], host: { gpuAbsent: 'no NVIDIA driver on this machine' } })
  step({ step: 'detected', inventory: inventory as never, roundTripSeconds: 0.001 })
  expect(written()).toContain('    no GPU, as the box says: "no NVIDIA driver on this machine"\n')
})

test('attack 300: a card that is lost on the way is lost in the words of the box, its code too', () => {
  const { step, written } = watching(false)
  step({ step: 'lost', fault: { code: 'AS_CLAIMED', text: `AS CLAIMED${' '.repeat(60)}8 x H100 SXM: "all" proven` } })
  expect(written()).toContain(
    `  ! a device failed, as the box says: "AS CLAIMED 8 x H100 SXM: 'all' proven [AS_CLAIMED]"\n`,
  )
})
