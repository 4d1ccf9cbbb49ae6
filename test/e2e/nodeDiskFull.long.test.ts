import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { NodeProcess } from '../support/nodeProcess.ts'
import { smallDisk } from '../support/smallDisk.ts'

test('a whole node on a full disk: it says what to do, goes on by itself, and loses nothing that was final', async ({
  skip,
}) => {
  const disk = smallDisk(skip)
  // The node writes meanwhile: how much room is left is known when there is none.
  const fill = () => {
    for (const size of [1 << 20, 1 << 12])
      try {
        for (;;) appendFileSync(join(disk, 'ballast'), new Uint8Array(size))
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' })
      }
  }
  const start = (hasApi = false) => {
    const node = new NodeProcess(['--data', join(disk, 'node'), '--port', '0'], hasApi)
    onTestFinished(() => void node.child.kill('SIGKILL'))
    return node
  }
  const complaints = ({ told }: NodeProcess) => told.filter(({ event }) => event === 'error')

  const node = start()
  await node.untilFinal(3)
  fill()
  await node.until(() => complaints(node).length > 1)
  expect(complaints(node)[0]).toMatchObject({
    message: 'a step failed',
    why: expect.stringMatching(/takes no more .*what was written before is whole/),
    next: expect.stringMatching(/^Make room on the disk/),
  })
  const stopped = node.head
  rmSync(join(disk, 'ballast'))
  await node.untilFinal(stopped + 3)

  // Killed on a full disk, and started on it: a refusal with a way out, and nothing is damaged.
  const before = complaints(node).length
  fill()
  await node.until(() => complaints(node).length > before)
  await node.kill()
  const refused = start()
  expect(await refused.ended).toBe(2)
  expect(refused.told.at(-1)).toMatchObject({ error: { code: 'CHAIN_NOT_WRITTEN' } })
  rmSync(join(disk, 'ballast'))
  const again = start(true)
  await again.untilFinal(node.final + 2)
  const { api } = again.told.find(({ event }) => event === 'started')!
  for (const [height, id] of node.finals) {
    const block = (await (await fetch(`${api}/v1/blocks/${height}`)).json()) as { id: string; isFinal: boolean }
    expect(block).toMatchObject({ id, isFinal: true })
  }
  expect(complaints(again)).toEqual([])
})
