import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openHome } from '../support/commandLine.ts'

const lie = new URL('../support/lyingReplica.mjs', import.meta.url).href
const { inFolder, commands } = openHome({ NODE_OPTIONS: `--import ${lie}` })

test('attack 357: replicas that differ settle it between them: who lied is named, so is who went away, and who is left delivers', async () => {
  writeFileSync(inFolder('text'), 'two say one thing each, and one of them is wrong. '.repeat(40))
  const small = ['--layers', '1', '--width', '16', '--heads', '2', '--tokens', '16', '--sequences', '2', '--steps', '3']
  const files = ['--out', inFolder('model.safetensors'), '--receipt', inFolder('receipt.json'), '--json']
  const { status, stdout } = await commands.run([
    ...['work', 'run', 'train', inFolder('text'), ...small, ...files, '--replicas', '4'],
  ])
  expect(status).toBe(0)
  const told = JSON.parse(stdout)
  const [came, ...others] = told.replicas.split('; replica ')
  expect(came).toBe('1 of 4 came to the same, as did a replay here')
  expect(others).toEqual([
    expect.stringMatching(/^2 does not count: .* is wrong .*\(segment 1, step quantise, patch \d+; \d+ rounds\)$/),
    expect.stringMatching(/^3 does not count: it went away .*exit code 7\)$/),
    expect.stringMatching(/^4 does not count: .* did not answer for it \(it went away .*exit code 8\)\)$/),
  ])
  const keys = [expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)]
  const rounds = expect.any(Number)
  const at = { segment: 1, step: 'quantise', patch: expect.any(Number), rounds }
  expect(told.disputes).toEqual([
    { replicas: [1, 2], keys, liars: [2], silent: [], ...at },
    { replicas: [1, 4], keys, liars: [], silent: [4], segment: 1, step: null, patch: null, rounds },
  ])
  expect(told.disputes[0].rounds).toBeLessThanOrEqual(12)
  expect(readFileSync(inFolder('receipt.json')).length).toBeGreaterThan(0)
})
