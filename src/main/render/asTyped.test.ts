import { expect, test } from 'vitest'
import { asTyped } from './asTyped.ts'

const byNpx = { npm_lifecycle_event: 'npx', npm_lifecycle_script: "'touchstone'" }

test('run by npx, every command that is named can be pasted; nothing else changes', () => {
  const typed = asTyped(byNpx)
  expect(typed('Run "touchstone verify --help".')).toBe('Run "npx touchstone verify --help".')
  expect(typed('Usage: touchstone bench')).toBe('Usage: npx touchstone bench')
  expect(typed('  touchstone bench\n  touchstone check FILE')).toBe(
    '  npx touchstone bench\n  npx touchstone check FILE',
  )
  for (const text of [
    'npx touchstone check x',
    '~/.local/share/touchstone beside',
    'touchstone 0.1.0',
    'as touchstone wrote it',
  ])
    expect(typed(text)).toBe(text)
})

test('started otherwise, or npx started something else, texts stay as they are', () => {
  for (const env of [{}, { ...byNpx, npm_lifecycle_script: "'vitest'" }, { npm_lifecycle_event: 'test' }])
    expect(asTyped(env)('touchstone verify')).toBe('touchstone verify')
})
