import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorReportSchema } from '../../src/core/certificate/reportSchemas.ts'
import { openHome } from '../support/commandLine.ts'

const { inFolder, touchstone } = openHome()
const config = inFolder('validator.yaml')
writeFileSync(config, `store: embedded:${inFolder('data')}\napi: { port: 1 }\n`)

test.each([
  ['verify', ['verify', '--json', '--out', '/proc/nowhere/x.json'], 2, 'NOT_WRITABLE'],
  ['check', ['check', inFolder('\u001b[31m\u009b2J.json'), '--json'], 2, 'NOT_READABLE'],
  ['check of a URL', ['check', 'http://example.invalid/x', '--json'], 2, 'URL_REFUSED'],
  ['report', ['report', inFolder('missing.json'), '--html', '--json'], 2, 'NOT_READABLE'],
  ['validator', ['validator', '--json', '--config', inFolder('none.yaml')], 2, 'CONFIG_UNREADABLE'],
  ['validator status', ['validator', 'status', '--json', '--config', config], 2, 'VALIDATOR_NOT_RUNNING'],
  ['validator restore', ['validator', 'restore', 'none', '--json', '--config', config], 2, 'NO_SUCH_FILE'],
  ['provider, before its long check,', ['provider', '--json', '--allow', 'anyone'], 2, 'SSH_HOST_MISSING'],
  ['an unknown option', ['verify', '--json', '--presets', 'tiny'], 2, 'USAGE'],
  ['an option of another form', ['bench', '--devices', 'amd', '--json'], 2, 'USAGE'],
  ['a missing option', ['provider', '--json'], 2, 'USAGE'],
  ['an unknown command', ['nonsense', '--json'], 2, 'USAGE'],
] as const)('with --json a fault of %s is one object on standard output', async (_, args, status, code) => {
  const said = await touchstone(...args)
  expect({ stderr: said.stderr, status: said.status }).toEqual({ stderr: '', status })
  expect(said.stdout).toMatch(/^[^\n]*\n$/)
  expect(said.stdout).not.toMatch(/[^\P{C}\n]/u)
  expect(errorReportSchema.safeParse(JSON.parse(said.stdout)).error).toBeUndefined()
  expect(JSON.parse(said.stdout)).toEqual({
    error: {
      code,
      message: expect.stringMatching(/\S/),
      blame: expect.stringMatching(/^(user|prover|validator|network)$/),
      retry: expect.any(Boolean),
      nextStep: expect.stringMatching(/\S.*\.$/),
    },
  })
})

test('without --json a fault is for people, on standard error', async () => {
  const { stdout, stderr, status } = await touchstone('check', inFolder('missing.json'))
  expect([stdout, status]).toEqual(['', 2])
  expect(stderr).toMatch(/^error: .* \[NOT_READABLE\]\nnext: .*\n$/)
})

test('help and version are no faults', async () => {
  expect(await touchstone('verify', '--help', '--json')).toMatchObject({
    status: 0,
    stderr: '',
    stdout: expect.stringContaining('Usage'),
  })
  expect(await touchstone('--version', '--json')).toMatchObject({ status: 0, stderr: '' })
})

test.each(['verify', 'check', 'report', 'bench', 'rent', 'provider', 'validator'])(
  'the help of %s reads in 80 columns',
  async (command) => {
    const lines = (await touchstone(command, '--help')).stdout.split('\n')
    expect(lines.length).toBeGreaterThan(5)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  },
)
