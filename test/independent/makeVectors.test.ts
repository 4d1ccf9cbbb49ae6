import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const maker = fileURLToPath(new URL('make_vectors.py', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.warn('skipped: python3 is not installed, so the committed vectors are not made again')

describe('the committed vectors', () => {
  it.skipIf(!hasPython)(
    'are what the independent implementation makes, byte for byte',
    () => {
      expect(execFileSync('python3', ['-B', maker, '--check'], { encoding: 'utf8' })).toBe('')
    },
    120_000,
  )
})
