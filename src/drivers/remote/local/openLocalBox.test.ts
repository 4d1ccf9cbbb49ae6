import { expect, test } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { firstLine, isAlive } from '../../../../test/support/processes.ts'
import type { ProverProcess } from '../../../ports/remoteBox.ts'
import { openLocalBox } from './openLocalBox.ts'

const never = new AbortController().signal
const box = (script: string) => openLocalBox({ command: ['/bin/sh', '-c', script], env: process.env })

const START = 'sleep 1000 & echo $!;'

test.each([
  ['ends by itself when its input closes', `${START} read line`, (prover: ProverProcess) => prover.stop()],
  ['does not end by itself', `${START} trap "" TERM; wait`, (prover: ProverProcess) => prover.stop()],
  ['dies on the way', `${START} read line; kill -9 $$`, (prover: ProverProcess) => prover.write(Uint8Array.of(10))],
])('what a prover started is ended with it, when it %s', async (_, script, end) => {
  const open = box(script)
  const prover = await open.start(never)
  const grandchild = Number(await firstLine(prover))
  expect(isAlive(grandchild)).toBe(true)
  await end(prover)
  await prover.ended
  await eventually(() => !isAlive(grandchild))
  await open.close()
})

test('a grandchild that holds on to the output does not keep it open', async () => {
  const prover = await box('sleep 1000 & read line').start(never)
  await prover.write(Uint8Array.of(10))
  for await (const _ of prover.output) expect.unreachable()
  expect(await prover.ended).toEqual({ code: 0, lost: false })
})

test('a program that is not there is told as lost', async () => {
  const prover = await openLocalBox({ command: ['/nowhere/prover'], env: {} }).start(never)
  expect(await prover.ended).toEqual({ code: null, lost: true })
  await prover.stop()
})
