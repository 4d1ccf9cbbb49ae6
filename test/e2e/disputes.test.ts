import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openCommandLine } from '../support/commandLine.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-dispute-'))
const inFolder = (name: string) => join(folder, name)
const lie = new URL('../support/lyingReplica.mjs', import.meta.url).href
const env = { ...process.env, TOUCHSTONE_HOME: inFolder('home'), NO_COLOR: '1', NODE_OPTIONS: `--import ${lie}` }
const commands = openCommandLine(env)

afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true, force: true })
})

test('replicas that differ settle it between them: who lied is named, so is who went away, and who is left delivers', async () => {
  writeFileSync(inFolder('text'), 'two say one thing each, and one of them is wrong. '.repeat(40))
  const small = ['--layers', '1', '--width', '16', '--heads', '2', '--tokens', '16', '--sequences', '2', '--steps', '3']
  const files = ['--out', inFolder('model.safetensors'), '--receipt', inFolder('receipt.json'), '--json']
  const { status, stdout } = await commands.run([
    ...['work', 'run', 'train', inFolder('text'), ...small, ...files, '--replicas', '3'],
  ])
  expect(status).toBe(0)
  const told = JSON.parse(stdout)
  expect(told.replicas).toMatch(
    /^1 of 3 came to the same; replica 2 lied: segment 1, step quantise, patch \d+; \d+ rounds; replica 3 does not count: it went away .*exit code 7\)$/,
  )
  const keys = [expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)]
  const at = { segment: 1, step: 'quantise', patch: expect.any(Number), rounds: expect.any(Number) }
  expect(told.disputes).toEqual([{ replicas: [1, 2], keys, liars: [2], ...at }])
  expect(told.disputes[0].rounds).toBeLessThanOrEqual(12)
  expect(readFileSync(inFolder('receipt.json')).length).toBeGreaterThan(0)
})
