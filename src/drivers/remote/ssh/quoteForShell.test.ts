import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quoteForShell } from './quoteForShell.ts'

/** What a shell makes of the string: each argument ended by a NUL, which no argument can hold. */
function splitBy(shell: string, line: string): string[] {
  const printed = execFileSync(shell, ['-c', `printf '%s\\0' ${line}`], { encoding: 'buffer' })
  return printed.toString('utf8').split('\0').slice(0, -1)
}

const nasty = fc.oneof(
  // Any code point: the library's own unit for it takes a second to make.
  fc.string({ unit: fc.nat(0x10ffff).map((code) => String.fromCodePoint(code)) }),
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', '$', '`', ';', '|', '&', '\n', '*', '~', '!', '#', '(', ' ', 'a'),
  }),
  fc.constantFrom('', '$(id)', '`id`', "';id;'", '-n', '--', '~', '*', '!!', '\r\n', '%s', '=', '#x'),
)
const argument = nasty.filter((text) => !text.includes('\0') && !/\p{Surrogate}/u.test(text))

describe('quoteForShell', () => {
  for (const shell of ['/bin/sh', '/bin/bash', '/bin/dash', '/bin/zsh', '/bin/ksh'].filter((path) => existsSync(path)))
    test(`${shell} reads back exactly the arguments that were written`, () => {
      fc.assert(
        fc.property(fc.array(argument, { minLength: 1, maxLength: 60 }), (argv) => {
          expect(splitBy(shell, quoteForShell(argv))).toEqual(argv)
        }),
        { numRuns: 10 },
      )
    })

  test('behavior: what no shell can carry is refused', () => {
    expect(() => quoteForShell([])).toThrow(/no command/)
    expect(() => quoteForShell(['a\0b'])).toThrow(/NUL/)
    expect(() => quoteForShell(['\ud800'])).toThrow(/surrogate/)
  })
})
