import { BoxTrial, type CheckDeps, type CheckedBox, type CheckOrder } from './boxTrial.ts'
import { GATE_MS, WINDOW_MS } from './checkSizes.ts'

/**
 * Checks boxes (§4.5) in one window for all: what counts is what was asked for and is there within it, divided by all of
 * it. So one machine behind several of them shows what it has once, in whatever order it serves them. Null: a box showed
 * nothing.
 */
export async function checkBoxes(
  deps: CheckDeps,
  orders: readonly CheckOrder[],
): Promise<readonly (CheckedBox | null)[]> {
  const { clock } = deps
  const trials = orders.map((order) => new BoxTrial(deps, order))
  const gateUs = clock.monotonicUs() + 1_000 * GATE_MS
  await Promise.all(trials.map((trial) => trial.size(gateUs)))
  const endUs = clock.monotonicUs() + 1_000 * WINDOW_MS
  await Promise.all(trials.map((trial) => trial.run(endUs)))
  return await Promise.all(trials.map((trial) => trial.judge()))
}
