import { describe, expect, test } from 'vitest'
import { faultOf, readAll, readBytes } from '../../../../test/suites/sshBoxSuite.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { never, useSshBoxes } from '../../../../test/support/sshBoxes.ts'

const { withBox } = useSshBoxes()

describe.concurrent('a box that says too much', () => {
  test('a talkative login shell does not reach the prover stream', async () => {
    await withBox({ chatter: 'Welcome!\x1b[2J\n'.repeat(100) }, {}, async (connect) => {
      const prover = await (await connect()).start(never)
      await prover.write(Buffer.from('hello'))
      expect((await readBytes(prover, 5)).toString()).toBe('hello')
      await prover.stop()
    })
  })

  test('attacks 12 and 53: endless chatter before the prover is a fault inside fixed limits', async () => {
    await withBox({ chatter: 'x'.repeat(200_000) }, {}, async (connect) => {
      expect((await faultOf((await connect()).install(never))).detail.code).toBe('BOX_COMMAND_FAILED')
    })
  })

  test('attack 12: a flooding prover waits until somebody reads', async () => {
    let sent = 0
    const onOutput = (total: number): void => {
      sent = total
    }
    await withBox(
      { onOutput },
      {},
      async (connect) => {
        const prover = await (await connect()).start(never)
        let before = -1
        await eventually(async () => {
          await new Promise((resolve) => setTimeout(resolve, 100))
          const still = sent === before && sent > 0
          before = sent
          return still
        })
        expect(sent).toBeLessThan(16 * 1024 * 1024)
        let read = 0
        for await (const chunk of prover.output) {
          read += chunk.length
          if (read > 8 * 1024 * 1024) break
        }
        await prover.stop()
      },
      'flood',
    )
  })

  test('attacks 12 and 53: a server that ignores flow control is dropped before it fills our memory', async () => {
    await withBox(
      // Three bytes first: the library's own check only sees a window of exactly zero.
      { ignoreWindow: true, chatter: 'odd' },
      {},
      async (connect) => {
        const prover = await (await connect()).start(never)
        expect(await prover.ended).toMatchObject({ code: null, lost: true })
        expect((await readAll(prover.output)).length).toBeLessThan(16 * 1024 * 1024)
      },
      'flood',
    )
  })
})
