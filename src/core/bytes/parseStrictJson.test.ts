import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseStrictJson } from './parseStrictJson.ts'

test('is JSON.parse for whatever was written by JSON.stringify, with or without blanks', () => {
  const values = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__"'))
  fc.assert(
    fc.property(values, fc.constantFrom(undefined, 1, '\t'), (value, blanks) => {
      const text = JSON.stringify(value, null, blanks)
      expect(parseStrictJson(text)).toEqual(JSON.parse(text))
    }),
  )
})

test('attack 341: a key that comes twice is refused, however it is spelled', () => {
  const twice = [
    '{"a":1,"a":1}',
    '{"a":1 , "b":{}, "a" :2}',
    '[{"x":{"a":[],"\\u0061":0}}]',
    '{"a\\"":1,"a\\"":2}',
    '{"\\\\":1,"\\\\":2}',
    '{"":0,""\n:0}',
    '{"a":{"b":1},"a":{"b":1,"c":2}}',
    '{"1":0,"1":0}',
  ]
  for (const text of twice) {
    expect(() => JSON.parse(text)).not.toThrow()
    expect(() => parseStrictJson(text)).toThrow('twice')
  }
  for (const text of ['{"a":":","b":"a\\":"}', '[":",":","\\\\",":"]', '{"a":{"a":{"a":[{"a":1},{"a":1}]}}}'])
    expect(parseStrictJson(text)).toEqual(JSON.parse(text))
  expect(() => parseStrictJson('{"__proto__":1}')).toThrow('not allowed')
})
