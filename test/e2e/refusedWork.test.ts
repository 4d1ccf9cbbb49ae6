import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openHome } from '../support/commandLine.ts'

const refusing = new URL('../support/refusingProver.mjs', import.meta.url).href
const { inFolder, touchstone, commands } = openHome({ NODE_OPTIONS: `--import ${refusing}` })
const files = ['--out', inFolder('field.npy'), '--receipt', inFolder('receipt')]
const flow = (...options: readonly string[]) => ['work', 'run', 'simulate', ...options, ...files]
const calm = flow('--size', '8', '--steps', '32')

test.each(['1', '2'])('attack 520: nobody is blamed for a work that has no result (boxes: %s)', async (boxes) => {
  const thin = ['--viscosity', '0.0005', '--speed', '0.15', '--obstacle', 'sphere:8,8,8,4']
  const { status, stdout, stderr } = await touchstone(
    ...flow('--size', '16', '--steps', '640', '--replicas', boxes, ...thin),
  )
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(
    /\(in segment 3: step 0 \(flow\) wrote a number that is none[^\n]*\) \[FAULT\] \[WORK_REFUSED\]/,
  )
  expect(stderr).toContain('Lower the learning rate, or the speed of a flow, or mend the inputs')
  expect(existsSync(inFolder('receipt'))).toBe(false)
})

test('attack 520: whoever says so of one that has a result is rejected', async () => {
  const { status, stdout } = await commands.run([...calm, '--json'], { REFUSED_SEGMENT: '3' })
  expect([status, JSON.parse(stdout)]).toMatchObject([1, { rejected: 'REFUSED_WRONGLY' }])
})

test('attack 520: where a run here would take too long, it is open who is right', async () => {
  const large = flow('--size', '256x256x128', '--steps', '512', '--interval', '256')
  const { status, stdout } = await commands.run(large, { REFUSED_SEGMENT: '-1' })
  expect(status).toBe(4)
  expect(stdout.replace(/\s+/g, ' ')).toContain('would take too long (as it says: "so it is [FAULT]") [REFUSED_UNSEEN]')
  expect(stdout).not.toContain('do not pay')
})
