import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { askHidden } from './askHidden.ts'

function terminal() {
  const modes: boolean[] = []
  const shown: string[] = []
  const input = Object.assign(new PassThrough(), { setRawMode: (mode: boolean) => void modes.push(mode) })
  const output = { write: (text: string) => void shown.push(text) }
  return { at: { input, output } as never, input, modes, shown: () => shown.join('') }
}
const never = new AbortController().signal

test('what is typed is heard, corrected, and never shown', async () => {
  const { at, input, modes, shown } = terminal()
  const asked = askHidden(at, 'password: ', never)
  for (const keys of ['se', 'x\u007fcr', 'et\r']) input.write(keys)
  expect(await asked).toBe('secret')
  expect([shown(), modes]).toEqual(['password: \n', [true, false]])
})

test('nothing typed is no answer', async () => {
  const { at, input } = terminal()
  const asked = askHidden(at, '', never)
  input.write('\r')
  expect(await asked).toBeNull()
})

test('Ctrl-C is passed on, and an abort gives the terminal back', async () => {
  const { at, input, modes } = terminal()
  const stop = new AbortController()
  const asked = askHidden(at, '', stop.signal, () => stop.abort(new Error('stopped')))
  input.write('abc\u0003')
  await expect(asked).rejects.toThrow('stopped')
  expect(modes).toEqual([true, false])
})
