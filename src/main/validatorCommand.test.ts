import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { expect, test, vi } from 'vitest'
import { addValidatorCommand } from './validatorCommand.ts'

test('whatever answers on the port of the validator, no escape sequence of it is printed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-call-'))
  const server = createServer((_, response) => response.end('{"a":"\u001b[2J\u009b2J"}\n')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const config = join(folder, 'validator.yaml')
  writeFileSync(config, `store: embedded:./data\napi: { port: ${(server.address() as AddressInfo).port} }\n`)
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const program = new Command().exitOverride()
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
