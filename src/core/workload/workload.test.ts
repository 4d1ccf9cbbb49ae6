import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { epochOrder } from './epochOrder.ts'
import { freshParameter } from './freshParameter.ts'
import { forwardFlop, forwardFlopAt, multipliedParameters, trainingFlop } from './modelFlop.ts'
import { MODEL_SHAPES } from './modelShape.ts'
import { parameterLayout } from './parameterLayout.ts'
import { decodeHeader, encodeHeader, headerLength } from './safetensors.ts'

describe('parameterLayout', () => {
  test.each(Object.entries(MODEL_SHAPES))('%s: names once, places apart and aligned', (_name, shape) => {
    const { parameters, length } = parameterLayout(shape)
    expect(new Set(parameters.map(({ name }) => name)).size).toBe(parameters.length)
    parameters.forEach(({ offset, length: own }, index) => {
      expect(offset % 64).toBe(0)
      expect(offset + own).toBeLessThanOrEqual(parameters[index + 1]?.offset ?? length)
    })
  })

  test('small has the 85 million block parameters of GPT-2 small', () => {
    const blocks = parameterLayout(MODEL_SHAPES.small).parameters.filter(({ name }) => name.startsWith('layers.'))
    expect(blocks.reduce((sum, { length }) => sum + length, 0)).toBe(12 * (12 * 768 * 768 + 13 * 768))
  })
})

describe('freshParameter', () => {
  test('weights have the spread asked for, gains are one, and a seed decides', () => {
    const { parameters } = parameterLayout(MODEL_SHAPES.small)
    const weight = parameters.find(({ name }) => name === 'layers.0.mlp.up.weight')!
    const values = freshParameter({ ...weight, length: 100_000 }, 7)
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length)
    expect(deviation).toBeCloseTo(0.02, 3)
    expect(freshParameter({ ...weight, length: 100 }, 7)).toEqual(values.slice(0, 100))
    expect(freshParameter({ ...weight, length: 100 }, 8)).not.toEqual(values.slice(0, 100))
    const gain = parameters.find(({ name }) => name === 'norm.gain')!
    expect(new Set(freshParameter(gain, 7))).toEqual(new Set([1]))
  })
})

describe('model operations', () => {
  const shape = MODEL_SHAPES.tiny

  test('one matrix of the model counts two operations an element', () => {
    const elements = parameterLayout(shape).parameters.filter(
      ({ name, dims }) => dims.length === 2 && !/^(tok|pos)/.test(name),
    )
    expect(multipliedParameters(shape)).toBe(elements.reduce((sum, { length }) => sum + length, 0))
  })

  test('tokens in a row are the sum of their positions, and training is three times forward', () => {
    let sum = 0
    for (let position = 5; position < 12; position++) sum += forwardFlopAt(shape, position)
    expect(forwardFlop(shape, 5, 7)).toBe(sum)
    expect(trainingFlop(shape, 4, 7)).toBe(12 * forwardFlop(shape, 0, 7))
  })
})

describe('epochOrder', () => {
  test('every window once, in another order every epoch', () => {
    const [one, two] = [epochOrder(1000, 0, 1), epochOrder(1000, 1, 1)]
    expect([...one].sort((a, b) => a - b)).toEqual(Array.from({ length: 1000 }, (_, index) => index))
    expect(two).not.toEqual(one)
    expect(epochOrder(1000, 0, 1)).toEqual(one)
  })
})

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
    ['another type', { a: { ...tensor, dtype: 'F16' } }],
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
