import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { giverKey, listening } from '../../../test/support/leasableBox.ts'
import { lockFolder } from '../../drivers/system/lockFolder.ts'
import { portFault } from '../../ports/faults.ts'
import type { BoxAccess } from '../../ports/leases.ts'
import { addValidatorCommand } from './validatorCommand.ts'

test('whatever answers on the port of the validator, no escape sequence of it is printed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-call-'))
  const server = createServer((_, response) => response.end('{"a":"\u001b[2J\u009b2J"}\n')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const config = join(folder, 'validator.yaml')
  writeFileSync(config, `store: embedded:./data\napi: { port: ${(server.address() as AddressInfo).port} }\n`)
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const program = new Command().exitOverride().enablePositionalOptions()
    const run = async (work: (signal: AbortSignal) => Promise<number>) => {
      await work(new AbortController().signal)
    }
    addValidatorCommand(program, { env: { TOUCHSTONE_HOME: folder }, run })
    await program.parseAsync(['validator', 'call', 'GET', '/x', '--config', config], { from: 'user' })
    expect(said.mock.calls.map(([text]) => text).join('')).toBe('{"a":"?[2J?2J"}\n\n')
  } finally {
    said.mockRestore()
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
    rmSync(folder, { recursive: true })
  }
})

test('attack 354: a provider gives a sign of life, and what it is doing is its word; the advice to ask for one names this command', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-alive-'))
  const stop = new AbortController()
  const provider = await listening({} as BoxAccess, stop.signal)
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const program = new Command().exitOverride().enablePositionalOptions()
    const run = async (work: (signal: AbortSignal) => Promise<number>) => {
      expect(await work(stop.signal)).toBe(0)
    }
    addValidatorCommand(program, { env: { TOUCHSTONE_HOME: folder }, run })
    const address = `lease://127.0.0.1:${provider.port}#${giverKey}`
    await program.parseAsync(['validator', 'alive', address], { from: 'user' })
    await program.parseAsync(['validator', 'alive', address, '--json'], { from: 'user' })
    const [people, machine] = said.mock.calls.map(([text]) => String(text))
    expect(people).toMatch(/^alive \(\d+ ms\); as the provider says, free\n$/)
    expect(JSON.parse(machine!)).toEqual({ roundTripUs: expect.any(Number), told: { state: 'free' } })
    const hub = program.parseAsync(['validator', 'alive', `lease://hub#${giverKey}`], { from: 'user' })
    await expect(hub).rejects.toMatchObject({ detail: { code: 'NO_LEASE_HUB' } })
  } finally {
    said.mockRestore()
    stop.abort()
    await provider.close()
    rmSync(folder, { recursive: true })
  }
  expect(portFault.rows.BOX_BUSY.nextStep).toContain('touchstone validator alive ADDRESS')
})

describe('attack 317: whoever answers in the place of the validator that runs', () => {
  let folder = ''
  let named = ''
  let asked = 0
  let config = ''
  let unlock = async () => {}
  const server = createServer((_, response) => {
    asked++
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ file: named, rows: 4711 }))
  })
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'touchstone-backup-'))
    config = join(folder, 'validator.yaml')
    asked = 0
    unlock = await lockFolder(join(folder, 'data'), () => expect.unreachable())
    if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  afterEach(async () => {
    await unlock()
    rmSync(folder, { recursive: true })
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const backup = async (api: string) => {
    writeFileSync(config, `store: embedded:./data\napi: ${api}\n`)
    const program = new Command().exitOverride().enablePositionalOptions()
    const run = async (work: (signal: AbortSignal) => Promise<number>) => {
      expect(await work(new AbortController().signal)).toBe(0)
    }
    addValidatorCommand(program, { env: { TOUCHSTONE_HOME: join(folder, 'home') }, run })
    const to = join(folder, 'copy.gz')
    await program.parseAsync(['validator', 'backup', to, '--config', config], { from: 'user' })
  }
  const here = () => `{ port: ${(server.address() as AddressInfo).port} }`
  const NAME = 'touchstone-2026-01-01-00-00-00.jsonl.gz'

  test.each([
    ['a key', 'validator.key'],
    ['an earlier backup', join('backups', NAME)],
    ['a file of that name elsewhere', join('elsewhere', NAME)],
  ])('that names %s gets nothing moved', async (_, path) => {
    named = join(folder, path)
    mkdirSync(dirname(named), { recursive: true })
    writeFileSync(named, 'mine')
    await expect(backup(here())).rejects.toMatchObject({ detail: { code: 'NOT_A_VALIDATOR' } })
    expect(asked).toBe(1)
    expect(readFileSync(named, 'utf8')).toBe('mine')
    expect(existsSync(join(folder, 'copy.gz'))).toBe(false)
  })

  test('is not asked at all where there is no API', async () => {
    await expect(backup('null')).rejects.toMatchObject({ detail: { code: 'VALIDATOR_WITHOUT_API' } })
    expect(asked).toBe(0)
  })
})
