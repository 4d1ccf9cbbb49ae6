import { expect, test } from 'vitest'
import { bar } from './showSteps.ts'
import { openTerminal } from './terminal.ts'

function terminalOf(columns: number | undefined) {
  let written = ''
  const write = (text: string) => {
    written += text
    return true
  }
  const stream = { isTTY: true, columns, write } as NodeJS.WriteStream
  return { terminal: openTerminal(stream, {}), written: () => written }
}

test.each([10, 40, 80, 300])(
  'a live line stays on one row of %d columns, so that the next one replaces it whole',
  (columns) => {
    const { terminal, written } = terminalOf(columns)
    terminal.live('█'.repeat(200))
    expect([...written()].length).toBeLessThan(columns)
    terminal.live('')
    expect(written().endsWith('\r\u001b[2K')).toBe(true)
  },
)

test.each([
  [40, 12],
  [80, 30],
  [0, 30],
  [undefined, 30],
])('in %s columns a bar of %d leaves room for its words and count', (columns, width) => {
  const { terminal, written } = terminalOf(columns)
  expect(terminal.barWidth).toBe(width)
  terminal.live(`    openings ${bar(1, terminal.barWidth)} 1024/1024`)
  expect(written().endsWith('1024/1024')).toBe(true)
})
