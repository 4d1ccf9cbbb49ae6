import { describe, expect, test } from 'vitest'
import { type Program, shapeProgram } from './program.ts'
import { EXACT_OPS } from './workOps.ts'

const program = (numbers: Record<string, number>): Program => ({
  there: new Map([['x', { type: 'f32', rows: 4, width: 8 }]]),
  steps: [
    { op: 'rowScale', inputs: ['x'], outputs: ['s'], numbers: {} },
    { op: 'quantise', inputs: ['x', 's'], outputs: ['q'], numbers: { key0: 1, key1: 2, tensor: 3, ...numbers } },
    { op: 'fill', inputs: [], outputs: ['y'], numbers: { rows: 2, width: 3, value: 0 } },
  ],
  after: ['q'],
  statistics: [],
})

describe('a program after another', () => {
  const before = shapeProgram(EXACT_OPS, program({ transition: 1 }))

  test('that differs in passing numbers alone has its shapes, and its own numbers', () => {
    const next = shapeProgram(EXACT_OPS, program({ transition: 2 }), before)
    expect(next.shapes).toBe(before.shapes)
    expect(next.shaped[1]!.numbers.transition).toBe(2)
    expect(next).toEqual(shapeProgram(EXACT_OPS, program({ transition: 2 })))
  })

  test.each([
    ['other numbers', program({ transition: 1, tensor: 4 })],
    [
      'another tensor there',
      { ...program({ transition: 1 }), there: new Map([['x', { type: 'f32', rows: 5, width: 8 }]]) },
    ],
    ['another state', { ...program({ transition: 1 }), after: ['s'] }],
    ['fewer steps', { ...program({ transition: 1 }), steps: program({ transition: 1 }).steps.slice(0, 2) }],
  ] as [string, Program][])('with %s is shaped anew', (_, other) => {
    const next = shapeProgram(EXACT_OPS, other, before)
    expect(next.shapes).not.toBe(before.shapes)
  })

  test('that does not fit is refused as ever', () => {
    const { steps, ...rest } = program({ transition: 1 })
    const wrong = { ...rest, steps: [...steps.slice(0, 2), { ...steps[2]!, outputs: ['q'] }] }
    expect(() => shapeProgram(EXACT_OPS, wrong, before)).toThrow('written twice')
    expect(() => shapeProgram(EXACT_OPS, program({}), before)).toThrow('whole numbers')
  })
})
