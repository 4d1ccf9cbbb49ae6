import { expect, test } from 'vitest'
import { pinoLog } from './pinoLog.ts'

test('a line is one JSON object, and foreign text cannot leave it', () => {
  const lines: string[] = []
  const log = pinoLog('info', { write: (line) => void lines.push(line) })
  log.debug('not shown')
  log.warn('box verified', { box: 'a\n{"level":"error"}\u001b[31m', score: 7, code: null, long: 'x'.repeat(1000) })
  expect(lines).toHaveLength(1)
  expect(lines[0]!.trimEnd()).not.toContain('\n')
  expect(JSON.parse(lines[0]!)).toMatchObject({
    level: 'warn',
    msg: 'box verified',
    box: 'a?{"level":"error"}?[31m',
    score: 7,
    code: null,
    long: `${'x'.repeat(197)}...`,
  })
})
