import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { ReadStream } from 'ssh2'
import { expect, test } from 'vitest'
import { hashOverSftp } from './hashOverSftp.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** As ssh2 makes them: the file is closed after its last byte, and the box answers that, or the line is gone. */
function fileOf(text: string, closed: Error | null): Readable {
  const stream = new Readable({
    autoDestroy: false,
    emitClose: false,
    read() {
      this.push(text)
      this.push(null)
    },
    destroy: (error, done) => void setImmediate(() => done(error ?? closed)),
  })
  return stream.once('end', () => stream.destroy())
}

test('attack 285: a line that is cut when a file was read, and not yet closed, ends nothing but itself', async () => {
  const cut = fileOf('prover', new Error('No response from server'))
  const failed = once(cut, 'end')
  expect(await hashOverSftp({ createReadStream: () => cut as ReadStream }, 'p', 6)).toBe(sha256('prover'))
  await failed
  // The line goes away now: what nobody hears would end this process, and these tests with it.
  await delay(10)
  expect(cut.errored).toMatchObject({ message: 'No response from server' })
  const gone = fileOf('', null)
  gone.destroy(new Error('No response from server'))
  expect(await hashOverSftp({ createReadStream: () => gone as ReadStream }, 'p', 6)).toBe('missing')
})
