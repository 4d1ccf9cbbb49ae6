import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeNpy, encodeNpy, type NpyMatrix } from './npy.ts'

const matrices = fc
  .record({
    type: fc.constantFrom<NpyMatrix['type']>('i8', 'i32'),
    rows: fc.integer({ min: 0, max: 6 }),
    width: fc.integer({ min: 0, max: 6 }),
  })
  .chain((shape) => {
    const length = shape.rows * shape.width * (shape.type === 'i8' ? 1 : 4)
    return fc.record({
      ...{ type: fc.constant(shape.type), rows: fc.constant(shape.rows), width: fc.constant(shape.width) },
      bytes: fc.uint8Array({ minLength: length, maxLength: length }),
    })
  })

describe('a matrix of NumPy', () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(matrices, (matrix) => {
        expect(decodeNpy(encodeNpy(matrix))).toEqual(matrix)
      }),
    )
  })

  test('begins its data at a multiple of 64 bytes, as numpy.save does', () => {
    const file = encodeNpy({ type: 'i32', rows: 1, width: 2, bytes: new Uint8Array(8) })
    expect(file.length - 8).toBe(128)
    expect(Buffer.from(file).subarray(0, 64).toString('latin1')).toContain("{'descr': '<i4', 'fortran_order': False,")
  })

  test('cut short, longer, or with any byte of its header changed is read as something smaller or refused', () => {
    const file = encodeNpy({ type: 'i8', rows: 3, width: 5, bytes: new Uint8Array(15).fill(7) })
    for (let length = 0; length < file.length; length++)
      expect(() => decodeNpy(file.subarray(0, length))).toThrow(/npy/)
    expect(() => decodeNpy(Buffer.concat([file, Buffer.of(0)]))).toThrow(/too long/)
    fc.assert(
      fc.property(fc.nat(60), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const other = Uint8Array.from(file)
        other[at]! ^= change
        try {
          const { rows, width } = decodeNpy(other)
          expect(rows * width).toBe(15)
        } catch (error) {
          expect(String(error)).toMatch(/npy/)
        }
      }),
    )
  })
})
