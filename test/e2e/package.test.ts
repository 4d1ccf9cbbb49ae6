import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installPackage } from '../support/installPackage.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let installed: ReturnType<typeof installPackage>
beforeAll(() => {
  installed = installPackage(folder)
})

function touchstone(...args: string[]) {
  const { PATH = '' } = process.env
  const env = { PATH, NO_COLOR: '1', TOUCHSTONE_HOME: installed.home }
  const options = { cwd: folder, env, encoding: 'utf8', timeout: 50_000 } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [installed.program, ...args], options)
  return { status, stdout, stderr }
}

test('the package in an empty folder verifies this machine, checks what it wrote, and writes a report', () => {
  const verify = ['verify', '--preset', 'tiny', '--devices', 'cpu', '--precisions', 'int8', '--out', 'c.json', '--json']
  expect(touchstone(...verify)).toMatchObject({ status: 0 })
  expect(JSON.parse(touchstone('check', 'c.json', '--json').stdout)).toMatchObject({ verdict: 'genuine' })
  expect(touchstone('report', 'c.json', '--html')).toMatchObject({ status: 0 })
  expect(existsSync(join(folder, 'c.html'))).toBe(true)
})

test('its library is there by its name, for Node and for a browser', () => {
  const ask =
    "import { checkCertificate } from 'touchstone'; console.log((await checkCertificate('', { trust: [] })).problem.code)"
  for (const condition of ['node', 'browser']) {
    const args = [`--conditions=${condition}`, '--input-type=module', '-e', ask]
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    expect({ stdout, stderr }).toEqual({ stdout: 'EMPTY\n', stderr: '' })
  }
})

test('its provider and its validator find everything they need before they say what is missing', () => {
  writeFileSync(join(folder, 'validator.yaml'), `store: embedded:${folder}/data\napi: { port: 1 }\n`)
  expect(touchstone('validator', 'status', '--config', 'validator.yaml').stderr).toContain('VALIDATOR_NOT_RUNNING')
  expect(touchstone('provider', '--allow', 'anyone').stderr).toContain('SSH_HOST_MISSING')
  expect(touchstone('--version')).toMatchObject({ status: 0 })
})
