import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'

const program = fileURLToPath(new URL('../dist/main/touchstone.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const bench = (...options: string[]) =>
  spawnSync(process.execPath, [program, 'bench', ...options], { encoding: 'utf8', cwd: folder })

describe('touchstone bench --workload', () => {
  test('tunes the tiny model on the CPU, saves it, goes on from there, and never calls it proven', () => {
    const run = (...options: string[]) => {
      const { status, stdout } = bench('--workload', 'tiny', '--devices', 'cpu', '--steps', '6', '--json', ...options)
      expect(status).toBe(0)
      return JSON.parse(stdout)
    }
    const saved = join(folder, 'tuned.safetensors')
    const first = run('--save', saved)
    expect(first).toMatchObject({ model: 'tiny', proven: false, training: { steps: 6 } })
    expect(first.training.firstLoss).toBeCloseTo(Math.log(256), 0)
    expect(statSync(saved).size).toBeGreaterThan(4 * first.parameters)
    const second = run('--checkpoint', saved)
    expect(second.training.firstLoss).toBeLessThan(first.training.firstLoss - 0.1)
  })

  test.each([
    ['a model there is none of', ['--workload', 'huge']],
    ['a device it does not run on', ['--workload', 'tiny', '--devices', 'tpu']],
    ['a text that is not there', ['--workload', 'tiny', '--devices', 'cpu', '--text', 'nowhere.txt']],
  ])('behavior: %s ends with 2 and a next step', (_name, options) => {
    const { status, stderr } = bench(...options)
    expect(status).toBe(2)
    expect(stderr).toMatch(/Use |next/)
  })
})
