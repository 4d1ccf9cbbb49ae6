import { expect, test } from 'vitest'
import { quoteForShell } from './quoteForShell.ts'
import { parseFacts, placeOf } from './workspace.ts'

const said = (base: string, work: string) => placeOf(parseFacts(`base ${base}\nwork ${work}\nmachine x86_64\n`))

test('attack 383: a folder that no command could name is none', () => {
  expect(said('/home/é', '/home/é/.touchstone-run-1')).toMatchObject({ folder: '/home/é/.touchstone-run-1' })
  for (const odd of ['\0', '\u0001', '\u001b', '\u007f', '\u009b', '\ud800']) {
    expect(said('/tmp', `/tmp/a${odd}b`), JSON.stringify(odd)).toBeNull()
    expect(said(`/tmp${odd}`, `/tmp${odd}/a`), JSON.stringify(odd)).toBeNull()
  }
  for (const [base, work] of [
    ['/tmp', 'none'],
    ['/tmp', 'tmp/a'],
    ['/tmp', '/var/a'],
    ['', `/${'a'.repeat(1_024)}`],
  ] as const)
    expect(said(base, work), work).toBeNull()
})

test('attack 383: every folder that is one can be named in a command', () => {
  for (let code = 0; code < 0x10000; code++) {
    const place = said('/tmp', `/tmp/${String.fromCharCode(code)}`)
    if (place !== null) quoteForShell(['rm', '-r', place.folder])
  }
})
