import { expect, test } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { firstLine, isAlive } from '../../../../test/support/processes.ts'
import type { ProverProcess } from '../../../ports/remoteBox.ts'
import { openLocalBox } from './openLocalBox.ts'

const never = new AbortController().signal
const box = (script: string) => openLocalBox({ command: ['/bin/sh', '-c', script], env: process.env, graceMs: 200 })

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
  expect(await prover.ended).toEqual({ code: 0, lost: false, said: '' })
})

test.each([
  ['exit 7', 7],
  ['kill -SEGV $$', 139],
])('a prover that dies by "%s" is told with its code and its last words, plain and short', async (death, code) => {
  const noise = 'i=0; while [ $i -lt 3000 ]; do printf "\\033]0;evil\\007 noise $i\\n" >&2; i=$((i+1)); done;'
  const prover = await box(`${noise} echo "no such card" >&2; ${death}`).start(never)
  for await (const _ of prover.output) expect.unreachable()
  const { said, ...end } = await prover.ended
  expect(end).toEqual({ code, lost: false })
  expect(said).toMatch(/^[\x20-\x7e]{100,300} no such card$/)
})

test('a grandchild that left the group and holds on to standard error does not keep the end from us', async () => {
  const prover = await box('setsid sleep 1000 >/dev/null & echo $!; read line; exit 3').start(never)
  const holder = Number(await firstLine(prover))
  await prover.write(Uint8Array.of(10))
  expect(await prover.ended).toMatchObject({ code: 3, lost: false })
  process.kill(holder, 'SIGKILL')
})

test('a program that is not there is told as such', async () => {
  const prover = await openLocalBox({ command: ['/nowhere/prover'], env: {} }).start(never)
  expect(await prover.ended).toEqual({ code: null, lost: false, said: 'spawn /nowhere/prover ENOENT' })
  await prover.stop()
})
