import { describe, expect, test } from 'vitest'
import { scriptUrl } from './scriptUrl.ts'

describe('scriptUrl', () => {
  test('behavior: a source stands for its compiled twin', () => {
    expect(scriptUrl('./worker.ts', 'file:///home/a/src/drivers/x.ts').href).toBe(
      'file:///home/a/dist/drivers/worker.js',
    )
  })

  test('behavior: a clone inside another src folder finds its own dist', () => {
    const from = 'file:///home/src/touchstone/src/drivers/x.ts'
    expect(scriptUrl('../w.ts', from).href).toBe('file:///home/src/touchstone/dist/w.js')
  })

  test('behavior: compiled code is already in the right place, even below a folder named src', () => {
    const from = 'file:///home/src/touchstone/dist/drivers/x.js'
    expect(scriptUrl('./worker.ts', from).href).toBe('file:///home/src/touchstone/dist/drivers/worker.js')
  })
})
