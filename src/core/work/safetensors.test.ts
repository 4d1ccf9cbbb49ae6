import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeHeader, encodeHeader, headerLength } from './safetensors.ts'

describe('safetensors', () => {
  const names = fc.stringMatching(/^[a-z][a-z0-9.]{0,20}$/)
  const tensors = fc.uniqueArray(fc.record({ name: names, dims: fc.array(fc.nat(9), { maxLength: 4 }) }), {
    selector: ({ name }) => name,
  })

  test('every header reads back', () => {
    fc.assert(
      fc.property(tensors, (list) => {
        const header = encodeHeader(list)
        expect(headerLength(header)).toBe(header.length)
        const length = header.length + list.reduce((sum, { dims }) => sum + dims.reduce((a, b) => a * b, 4), 0)
        const read = decodeHeader(header, length)
        expect(read.map(({ name, dims }) => ({ name, dims: [...dims] }))).toEqual(
          expect.arrayContaining(list.map(({ name, dims }) => ({ name, dims }))),
        )
        expect(read.length).toBe(list.length)
        const held = list.some(({ dims }) => dims.every((size) => size > 0))
        if (held) expect(() => decodeHeader(header, length - 1)).toThrow(/cut off/)
      }),
    )
  })

  const tensor = { dtype: 'F32', shape: [2], data_offsets: [0, 8] }
  test.each([
    ['a type of no size', { a: { ...tensor, dtype: 'F12' } }],
    ['a type of another size', { a: { ...tensor, dtype: 'BF16' } }],
    ['two tensors at one place', { a: tensor, b: { ...tensor, shape: [1], data_offsets: [4, 8] } }],
    ['a negative size', { a: { ...tensor, shape: [-2] } }],
    ['a broken size', { a: { ...tensor, shape: [0.5] } }],
    ['offsets that do not fit', { a: { ...tensor, data_offsets: [0, 4] } }],
    ['offsets out of range', { a: { ...tensor, data_offsets: [8, 16] } }],
    ['offsets below zero', { a: { ...tensor, data_offsets: [-8, 0] } }],
    ['no tensor', { a: null }],
    ['a list', [tensor]],
  ])('%s is refused', (_name, value) => {
    const json = new TextEncoder().encode(JSON.stringify(value))
    const header = new Uint8Array(8 + json.length)
    header.set(json, 8)
    expect(() => decodeHeader(header, header.length + 8)).toThrow(/checkpoint/)
  })

  test('attack 341: a tensor whose name comes twice is refused', () => {
    const read = (json: string) => {
      const words = new TextEncoder().encode(json)
      const header = new Uint8Array([...new Uint8Array(new BigUint64Array([BigInt(words.length)]).buffer), ...words])
      return decodeHeader(header, header.length + 16)
    }
    const [first, second] = [tensor, { ...tensor, data_offsets: [8, 16] }].map((one) => JSON.stringify(one))
    expect(read(`{"a":${first},"b":${second}}`)).toHaveLength(2)
    expect(() => read(`{"a":${first},"a":${second}}`)).toThrow('header is not JSON, or has a name twice')
  })

  test('any bytes decode or are refused by name, and a header of terabytes is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          decodeHeader(bytes, bytes.length)
        } catch (error) {
          expect((error as Error).message).toMatch(/^checkpoint/)
        }
      }),
    )
    expect(() => headerLength(new Uint8Array(8).fill(0x7f))).toThrow(/too long/)
    expect(() => headerLength(new Uint8Array(7))).toThrow(/shorter/)
  })
})
