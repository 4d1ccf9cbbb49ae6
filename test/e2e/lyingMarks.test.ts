import { existsSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openHome } from '../support/commandLine.ts'

const lie = new URL('../support/lyingMarks.mjs', import.meta.url).href
const { inFolder, commands } = openHome({ NODE_OPTIONS: `--import ${lie}` })
const model = fileURLToPath(new URL('../fixtures/small-gpt2', import.meta.url))
const files = ['--out', inFolder('out'), '--receipt', inFolder('receipt')]

test('attack 337: a box whose tokens on the way are not those of its last state is rejected, drawn or not', async () => {
  writeFileSync(inFolder('prompts'), 'abcdefghi'.split('').join('\n'))
  const asked = ['--model', model, '--prompts', inFolder('prompts'), '--tokens', '60', '--json']
  // 8 of 60 segments are drawn: that the lie is among them every time happens once in 300,000.
  for (const _ of Array(6)) {
    const run = ['work', 'run', 'infer', ...asked, ...files]
    const { status, stdout } = await commands.run(run, { LYING_SEGMENT: '57' })
    expect([status, existsSync(inFolder('out')), existsSync(inFolder('receipt'))]).toEqual([1, false, false])
    if (JSON.parse(stdout).rejected !== 'NOT_SHOWN') return expect(JSON.parse(stdout).rejected).toBe('OTHER_RESULT')
  }
  expect.unreachable('the lie was drawn every time')
})

test('attack 340: a loss that nobody looked at is told, and not shown', async () => {
  const mlp = ['--family', 'mlp', '--hidden', '8', '--sequences', '16', '--rate', '0.02', '--steps', '40']
  // 8 of 40 segments are drawn: that the last is among them every time happens once in 15,000.
  for (const _ of Array(6)) {
    const run = ['work', 'run', 'train', ...mlp, '--json', ...files]
    const { status, stdout } = await commands.run(run, { LYING_SEGMENT: '39' })
    const { loss } = JSON.parse(stdout)
    if (status === 0) return expect(loss.shown).toEqual({ first: false, last: false })
  }
  expect.unreachable('the lie was drawn every time')
})
