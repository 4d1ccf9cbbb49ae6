import fc from 'fast-check'
import { expect, test } from 'vitest'
import { labelled } from './labelled.ts'

test('property: no line is wider than 80 columns, and no word is lost', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,63}$/), { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(words, (text) => {
      const lines = labelled('claimed', text.join(' '))
      expect(lines.every((line) => line.length <= 80)).toBe(true)
      expect(lines.join(' ').trim().split(/ +/)).toEqual(['claimed', ...text])
    }),
  )
})
